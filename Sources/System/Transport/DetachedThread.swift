import Glibc

/// Runs `body` once on a separate thread: for work that waits for a socket or computes for a long time, which the
/// threads of Swift's concurrency must not do. Returns false when the system cannot start another thread.
///
/// - Parameter name: The thread's name in tools, at most 15 bytes. Without it the thread would bear that of its creator.
public func startDetachedThread(name: String = "worker", _ body: @escaping @Sendable () -> Void) -> Bool {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let box = Unmanaged.passRetained(
        Box {
            nameThisThread(name)
            body()
        })
    var thread = pthread_t()
    let status = pthread_create(
        &thread, nil,
        { argument in
            guard let argument else { return nil }
            // Balances `passRetained` above.
            Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    guard status == 0 else {
        box.release()
        return false
    }
    pthread_detach(thread)
    return true
}

/// Gives the calling thread a name that tools show, at most 15 bytes (proc(5); Swift does not import the functions for it).
public func nameThisThread(_ name: String) {
    let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = name.utf8CString.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count - 1) }
    close(descriptor)
}
