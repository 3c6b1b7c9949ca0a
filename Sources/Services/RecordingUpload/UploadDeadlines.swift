/// How long uploads may take.
public struct UploadDeadlines: Equatable, Sendable {
    /// Until there is a connection.
    public var connect: Duration
    /// How long the response may be missing.
    public var idle: Duration
    /// What a request may take besides its body, and the slowest rate at which a body still arrives in time. A segment that
    /// is being recorded has as much time for each piece: how long it is itself depends on the camera.
    public var base: Duration
    public var slowestBytesPerSecond: Int
    /// Until what could not be stored is stored again.
    public var storage: Duration

    /// Sets the deadlines.
    public init(
        connect: Duration = .seconds(10), idle: Duration = .seconds(60), base: Duration = .seconds(60),
        slowestBytesPerSecond: Int = 16 << 10, storage: Duration = .seconds(10)
    ) {
        self.connect = connect
        self.idle = idle
        self.base = base
        self.slowestBytesPerSecond = slowestBytesPerSecond
        self.storage = storage
    }
}
