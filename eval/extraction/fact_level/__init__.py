"""Reading held against abstracted facts, one by one: which of them the events of the notes hold."""
