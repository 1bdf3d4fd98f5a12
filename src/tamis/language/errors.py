"""What is raised when a condition's text cannot be understood."""

_WINDOW = 76


class ExpressionError(ValueError):
    """A text is not a condition.

    `message` says what was expected, `position` is the index of the offending character in `text`,
    and `str()` shows the line with a caret under that place.
    """

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(message, text, position)
        self.message = message
        self.text = text
        self.position = position

    def one_line(self) -> str:
        """Return the message and the place without the drawing, for logs and tables."""
        return f"{self.message} (at character {self.position + 1})"

    def __str__(self) -> str:
        start = self.text.rfind("\n", 0, self.position) + 1
        end = self.text.find("\n", self.position)
        line = self.text[start : end if end >= 0 else len(self.text)]
        column = self.position - start
        left = max(0, column - _WINDOW * 2 // 3)
        shown = line[left : left + _WINDOW].replace("\t", " ")
        head = "…" if left else ""
        tail = "…" if left + _WINDOW < len(line) else ""
        return f"{self.message}\n  {head}{shown}{tail}\n  {' ' * (len(head) + column - left)}^"
