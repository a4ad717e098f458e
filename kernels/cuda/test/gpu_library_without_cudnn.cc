// A GPU library that cannot be opened, since its cuDNN is missing.

int absent_cudnn();
int call_absent_cudnn();

int call_absent_cudnn() { return absent_cudnn(); }
