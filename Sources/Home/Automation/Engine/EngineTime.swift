/// A moment as the engine counts it.
///
/// Deadlines go by the clock that runs since the machine was started. The wall clock is only for schedules and for what
/// outlives a restart.
public struct EngineTime: Sendable, Hashable {
    /// Milliseconds since the machine was started.
    public var uptime: Int64
    /// Milliseconds since 1970.
    public var wall: Int64

    /// Names a moment.
    public init(uptime: Int64, wall: Int64) {
        self.uptime = uptime
        self.wall = wall
    }
}
