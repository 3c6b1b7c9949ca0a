#include "CCommit.h"

#define TEXT(x) #x
#define VALUE(x) TEXT(x)

const char *gatehouse_commit(void) {
#ifdef GATEHOUSE_COMMIT
    return VALUE(GATEHOUSE_COMMIT);
#else
    return "";
#endif
}
