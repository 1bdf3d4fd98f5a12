import platform

from tamis.lab.machine import this_machine


def test_names_processor_cores_memory_and_python() -> None:
    machine = this_machine()
    assert machine.cpu
    assert machine.cores >= 1
    assert machine.memory_gib > 0
    assert machine.python == platform.python_version()
    assert str(machine).startswith(f"{machine.cpu}, {machine.cores} cores, ")
