// Stands for cuDNN when a program is linked; under the name that is looked for it is nowhere.

int absent_cudnn();

int absent_cudnn() { return 0; }
