"""What an editor asks for, one kind of answer a file."""
