"""What all pages share: live components, the page frame, the words."""
