/// A time at, before or after sunrise or sunset (Home APIs, `SolarTime`).
public typealias SolarTime = Google.TimeTrait.SolarTime

extension Google.TimeTrait.SolarTime {
    /// Describes a solar time (Home APIs, `SolarTime`).
    /// - Parameters:
    ///   - type: the moment.
    ///   - offset: how long after it; negative for before it. Only whole seconds are kept.
    public init(type: Google.TimeTrait.SolarTimeType, offset: Duration) {
        self.init(type: type, offset: offset.components.seconds)
    }
}
