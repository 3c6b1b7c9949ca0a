/// A moment of the sun, or before or after it (Home APIs, `SolarTime`).
public typealias SolarTime = Google.TimeTrait.SolarTime

extension Google.TimeTrait.SolarTime {
    /// Describes a moment of the sun (Home APIs, `SolarTime`).
    /// - Parameters:
    ///   - type: the moment.
    ///   - offset: how long after it; before it if negative. Only whole seconds are kept.
    public init(type: Google.TimeTrait.SolarTimeType, offset: Duration) {
        self.init(type: type, offset: offset.components.seconds)
    }
}
