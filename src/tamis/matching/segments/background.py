"""Work in the background: a thread that is there only while there is something to do."""

import threading
from typing import Final, Generic, Protocol, TypeVar

from tamis.matching.segments.turns import short_turns, step_back

T = TypeVar("T")

#: So often, in seconds, one who waits looks whether it has waited enough.
PATIENCE: Final = 0.01


class Owner(Protocol[T]):
    """Whoever has something to do now and then, and knows how."""

    def next_task(self) -> T | None:
        """Return what is to be done next, if anything is."""

    def do(self, task: T) -> None:
        """Do it. What fails leaves everything as it was."""


class Background(Generic[T]):
    """Does the tasks of its owner, which is not held: both go together when nobody needs them."""

    def __init__(self) -> None:
        #: Held by whoever starts or ends the thread.
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        #: How many tasks are done.
        self._done = 0

    def look(self, owner: Owner[T]) -> None:
        """Begin if there is something to do and the thread is not there."""
        if not self._is_working() and owner.next_task() is not None:
            with self._lock:
                if not self._is_working():
                    thread = threading.Thread(target=self._work, args=(owner,), name="tamis-merge", daemon=True)
                    thread.start()
                    # Only now: whoever waits for it without the lock would join a thread that does not run yet.
                    self._thread = thread

    def wait(self, owner: Owner[T], tasks: int) -> None:
        """Wait until nothing is left to do, or so many tasks are done: others may bring new ones without end.

        What failed in the background is raised here.
        """
        enough = self._done + tasks
        while self._done < enough:
            self.look(owner)
            thread = self._thread
            if thread is not None:
                thread.join(PATIENCE)
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            if thread is None or owner.next_task() is None:
                break

    def _is_working(self) -> bool:
        # In a forked process there is no such thread, whatever was noted of it.
        return self._thread is not None and self._thread.is_alive()

    def _work(self, owner: Owner[T]) -> None:
        step_back()
        try:
            while True:
                task = owner.next_task()
                if task is None:
                    with self._lock:
                        # Whoever changes something after this starts another thread.
                        self._thread = None
                    if owner.next_task() is None:
                        return
                    with self._lock:
                        if self._thread is not None:
                            return
                        self._thread = threading.current_thread()
                else:
                    with short_turns():
                        owner.do(task)
                    self._done += 1
        except BaseException as error:  # noqa: BLE001 - raised by `wait`
            with self._lock:
                self._failure = error
                self._thread = None
