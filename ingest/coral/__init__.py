"""The CORAL annotation scheme: its schema, brat standoff, and the annotations and relations of one note."""
