// Replaces cuDNN at link time; no file has the name that is searched for at run time.

int absent_cudnn();

int absent_cudnn() { return 0; }
