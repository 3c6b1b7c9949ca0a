import CLinuxUDP

/// The scheduling priority of threads (setpriority(2), sched(7)).
public enum ThreadPriority {
    /// The niceness of threads that send media, where the system allows it. A picture that is late is worse than an
    /// answer that is late, and these threads rest as soon as everything has been sent.
    public static let mediaNiceness = -10

    /// Lets the calling thread run before those of ordinary priority when the processors are busy.
    ///
    /// The system allows it to root, with the capability `CAP_SYS_NICE`, or by the limit `RLIMIT_NICE` (`LimitNICE=-10`
    /// in a unit of systemd). Otherwise the priority stays as it was.
    /// - Returns: whether the system allowed it.
    @discardableResult
    public static func raiseForMedia() -> Bool { linux_thread_set_niceness(Int32(mediaNiceness)) == 0 }

    /// The niceness of the calling thread: -20 for the first in line, 19 for the last.
    public static var niceness: Int { Int(linux_thread_niceness()) }
}
