#include "CLinuxUDP.h"
