"""What parses candidate text, in a process of its own: one module per operation.

``harness/parsing/client.py`` starts this folder as a program. Each module has
``run(arguments)``, which takes and returns plain JSON values; ``{"refused": "why"}`` says that
the text is not acceptable.
The folder is the program's whole path besides installed packages, so nothing here imports
``harness``, and no module may have the name of one in the standard library.
"""
