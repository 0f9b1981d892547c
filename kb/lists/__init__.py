"""What answers without event rows: posting lists, lists by attribute value, and the ids of patients, in mapped files."""
