import Transport

/// Turns the readings of a camera's sensors into events. Cameras repeat themselves, flap, report the same through three
/// rules, report what was there before, and forget to say when it is over. The caller provides the time.
public struct EventDebouncer: Sendable {
    /// The debouncer's intervals.
    public struct Configuration: Sendable {
        /// A detection that ends and begins again within this time has not ended.
        public var hold: Duration = .seconds(2)
        /// A sensor that is silent for this long is treated as inactive: some firmware never reports the end.
        public var staleness: Duration = .seconds(300)
        /// The same for a button.
        public var buttonStaleness: Duration = .seconds(10)
        /// A detection that lasts longer ends, since one of its sensors is stuck. Its sensors count again only after
        /// they have been inactive.
        public var longestStay: Duration = .seconds(1800)
        /// The least time between two presses.
        public var pressInterval: Duration = .seconds(3)
        /// The least time between two momentary events of one kind.
        public var momentaryInterval: Duration = .seconds(5)
        /// The most sensors that are distinguished. A further one takes the place of the one that has been silent for the
        /// longest of those that are inactive; while all are active, it is ignored.
        public var maximumSensors = 64

        /// The usual intervals.
        public init() {}
    }

    private struct Sensor {
        var isActive: Bool
        var lastSeen: Instant
        /// The sensor counts only once it has been inactive: it was active before the subscription, or for too long.
        var isMuted = false
    }

    private struct Stay {
        var number: UInt64
        var beganAt: Instant
        var sensors: Set<String>
        /// When it ends, unless a sensor becomes active before that.
        var endsAt: Instant?
        var cameraTime: WallTime?
    }

    private let configuration: Configuration
    private var sensors: [String: Sensor] = [:]
    private var stays: [CameraDetection.Kind: Stay] = [:]
    private var lastMomentary: [CameraDetection.Kind: Instant] = [:]
    private var lastPress: Instant?
    private var nextStay: UInt64 = 1

    /// A debouncer without readings.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// The kinds that are present now.
    public var activeKinds: [CameraDetection.Kind] {
        CameraDetection.Kind.allCases.filter { stays[$0] != nil }
    }

    /// Handles a reading.
    /// - Returns: the resulting events, in order; empty where the reading is not new.
    public mutating func handle(_ reading: SensorReading, at now: Instant, wallTime: WallTime) -> [CameraEvent] {
        var events = handleDeadline(at: now, wallTime: wallTime)
        switch reading.subject {
        case .button(var press):
            guard isRisingEdge(reading, staleness: configuration.buttonStaleness, at: now) else { return events }
            if let lastPress, now - lastPress < configuration.pressInterval { return events }
            lastPress = now
            press.cameraTime = reading.cameraTime ?? press.cameraTime
            events.append(.buttonPressed(press))
        case .detection(let kind):
            if reading.isActive == nil {
                events += momentary(kind, reading, at: now, wallTime: wallTime)
            } else if isRisingEdge(reading, staleness: configuration.staleness, at: now) {
                events += begin(kind, reading, at: now, wallTime: wallTime)
            } else if reading.isActive == false {
                end(kind, sensor: reading.sensor, cameraTime: reading.cameraTime, at: now)
            }
        }
        return events
    }

    /// When ``handleDeadline(at:wallTime:)`` has something to do; nil for never.
    public var nextDeadline: Instant? {
        var deadlines: [Instant] = []
        for stay in stays.values {
            if let endsAt = stay.endsAt { deadlines.append(endsAt) }
            deadlines.append(stay.beganAt + configuration.longestStay)
            for name in stay.sensors {
                if let sensor = sensors[name] { deadlines.append(sensor.lastSeen + configuration.staleness) }
            }
        }
        return deadlines.min()
    }

    /// Ends what is due by now.
    /// - Returns: what has ended.
    public mutating func handleDeadline(at now: Instant, wallTime: WallTime) -> [CameraEvent] {
        var events: [CameraEvent] = []
        for kind in CameraDetection.Kind.allCases {
            guard var stay = stays[kind] else { continue }
            for name in stay.sensors {
                guard let sensor = sensors[name], now - sensor.lastSeen >= configuration.staleness else { continue }
                sensors[name]?.isActive = false
                stay.sensors.remove(name)
            }
            let isStuck = now - stay.beganAt >= configuration.longestStay
            if isStuck {
                for name in stay.sensors { sensors[name]?.isMuted = true }
                stay.sensors = []
            }
            if stay.sensors.isEmpty, isStuck || stay.endsAt.map({ now >= $0 }) ?? true {
                stays[kind] = nil
                events.append(
                    .detection(
                        CameraDetection(
                            kind: kind, phase: .ended, stay: stay.number, time: wallTime, cameraTime: stay.cameraTime)))
            } else {
                stays[kind] = stay
            }
        }
        return events
    }

    /// Ends every stay, because nobody reports their ends any more.
    /// - Returns: what has ended.
    public mutating func endStays(wallTime: WallTime) -> [CameraEvent] {
        let ended = CameraDetection.Kind.allCases.compactMap { kind in
            stays[kind].map { stay in
                CameraEvent.detection(
                    CameraDetection(
                        kind: kind, phase: .ended, stay: stay.number, time: wallTime, cameraTime: stay.cameraTime))
            }
        }
        stays = [:]
        return ended
    }

    /// Records the sensor's state.
    /// - Returns: whether it has become active just now.
    private mutating func isRisingEdge(_ reading: SensorReading, staleness: Duration, at now: Instant) -> Bool {
        guard let isActive = reading.isActive else { return !reading.isInitial }
        guard var sensor = sensors[reading.sensor] else {
            guard makeRoom(at: now) else { return false }
            sensors[reading.sensor] = Sensor(
                isActive: isActive, lastSeen: now, isMuted: isActive && reading.isInitial)
            return isActive && !reading.isInitial
        }
        let isStale = now - sensor.lastSeen >= staleness
        let wasActive = sensor.isActive && !isStale
        sensor.lastSeen = now
        sensor.isActive = isActive
        if !isActive || isStale { sensor.isMuted = false }
        // An initial state does not show an edge: what happened before the subscription is unknown.
        if reading.isInitial, isActive, !wasActive { sensor.isMuted = true }
        sensors[reading.sensor] = sensor
        return isActive && !wasActive && !reading.isInitial && !sensor.isMuted
    }

    /// Forgets an inactive sensor where there are too many: it would count as one that has not been seen. Rules get other
    /// names when somebody changes them.
    /// - Returns: whether there is room for one more.
    private mutating func makeRoom(at now: Instant) -> Bool {
        guard sensors.count >= configuration.maximumSensors else { return true }
        let inactive = sensors.filter { name, sensor in
            let isStale = now - sensor.lastSeen >= configuration.staleness
            return (!sensor.isActive || isStale) && !stays.values.contains { $0.sensors.contains(name) }
        }
        guard let oldest = inactive.min(by: { $0.value.lastSeen < $1.value.lastSeen }) else { return false }
        sensors[oldest.key] = nil
        return true
    }

    private mutating func begin(
        _ kind: CameraDetection.Kind, _ reading: SensorReading, at now: Instant, wallTime: WallTime
    ) -> [CameraEvent] {
        if var stay = stays[kind] {
            stay.sensors.insert(reading.sensor)
            stay.endsAt = nil
            stays[kind] = stay
            return []
        }
        stays[kind] = Stay(number: nextStay, beganAt: now, sensors: [reading.sensor])
        defer { nextStay &+= 1 }
        return [
            .detection(
                CameraDetection(
                    kind: kind, phase: .began, stay: nextStay, time: wallTime, cameraTime: reading.cameraTime))
        ]
    }

    private mutating func end(
        _ kind: CameraDetection.Kind, sensor: String, cameraTime: WallTime?, at now: Instant
    ) {
        guard var stay = stays[kind], stay.sensors.remove(sensor) != nil else { return }
        if stay.sensors.isEmpty {
            stay.endsAt = now + configuration.hold
            stay.cameraTime = cameraTime
        }
        stays[kind] = stay
    }

    private mutating func momentary(
        _ kind: CameraDetection.Kind, _ reading: SensorReading, at now: Instant, wallTime: WallTime
    ) -> [CameraEvent] {
        guard !reading.isInitial, stays[kind] == nil else { return [] }
        if let last = lastMomentary[kind], now - last < configuration.momentaryInterval { return [] }
        lastMomentary[kind] = now
        defer { nextStay &+= 1 }
        return [
            .detection(
                CameraDetection(
                    kind: kind, phase: .momentary, stay: nextStay, time: wallTime, cameraTime: reading.cameraTime))
        ]
    }
}
