import Glibc

func pause(milliseconds: UInt32) {
    usleep(milliseconds * 1_000)
}
