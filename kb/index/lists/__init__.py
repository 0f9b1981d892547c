"""What answers without event rows, in mapped files: posting lists, lists by attribute value, the ids of patients."""
