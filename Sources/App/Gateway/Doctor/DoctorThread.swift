import Transport

/// Runs what blocks for a while when somebody looks for what fails, so that neither media nor other requests wait for it.
public enum DoctorThread {
    /// Runs `body` on a thread of its own; nil if the system gives none.
    public static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            if !startDetachedThread(name: "doctor", { continuation.resume(returning: body()) }) {
                continuation.resume(returning: nil)
            }
        }
    }
}
