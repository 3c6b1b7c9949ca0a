import Glibc

/// The number of files and sockets that the process may have open at a time.
public enum DescriptorLimit {
    /// The most that a gateway with many cameras and viewers needs; the kernel's table grows with it.
    public static let wanted = 16_384

    /// Raises the soft limit as far as `wanted` and the hard limit allow. Many systems start processes with 1,024,
    /// which a few hosts with idle connections use up.
    ///
    /// - Returns: The soft limit from now on.
    @discardableResult
    public static func raise(to wanted: Int = wanted) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 1_024 }
        let present = Int(clamping: limit.rlim_cur)
        guard present < wanted else { return present }
        var raised = limit
        raised.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
        return setrlimit(resource, &raised) == 0 ? Int(clamping: raised.rlim_cur) : present
    }
}
