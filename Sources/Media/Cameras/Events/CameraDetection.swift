import Transport

/// Something that a camera has noticed.
public struct CameraDetection: Sendable, Hashable {
    /// What was noticed.
    public enum Kind: String, Sendable, CaseIterable {
        /// Something moves.
        case motion
        /// A person.
        case person
        /// A face.
        case face
        /// A vehicle, for example a car or a bicycle.
        case vehicle
        /// A dog, a cat or another animal.
        case animal
        /// A package.
        case package
        /// A sound.
        case sound
    }

    /// Whether it lasts.
    public enum Phase: String, Sendable, CaseIterable {
        /// It has just begun.
        case began
        /// It has ended.
        case ended
        /// It happened, without a duration.
        case momentary
    }

    /// What was noticed.
    public var kind: Kind
    /// Whether it lasts.
    public var phase: Phase
    /// Identifies one stay: its beginning and its end carry the same number.
    public var stay: UInt64
    /// When it happened by the gateway's clock.
    public var time: WallTime
    /// When it happened by the camera's clock, which may be wrong; nil where the camera did not say.
    public var cameraTime: WallTime?

    /// Describes a detection.
    public init(kind: Kind, phase: Phase, stay: UInt64 = 0, time: WallTime, cameraTime: WallTime? = nil) {
        self.kind = kind
        self.phase = phase
        self.stay = stay
        self.time = time
        self.cameraTime = cameraTime
    }
}

/// A press of a doorbell's button, as far as the doorbell reports it.
public struct ButtonPress: Sendable, Hashable {
    /// The ring tone that goes with the press.
    public var toneID: String?
    /// How long the button was held, in seconds.
    public var seconds: Int64?
    /// The priority of the press.
    public var priority: Int64?
    /// When it was pressed by the camera's clock, which may be wrong; nil where the camera did not say.
    public var cameraTime: WallTime?

    /// Describes a press.
    public init(
        toneID: String? = nil, seconds: Int64? = nil, priority: Int64? = nil, cameraTime: WallTime? = nil
    ) {
        self.toneID = toneID
        self.seconds = seconds
        self.priority = priority
        self.cameraTime = cameraTime
    }
}

/// What one sensor of a camera reports, before it is known whether that is new.
public struct SensorReading: Sendable, Equatable {
    /// What it is about.
    public enum Subject: Sendable, Hashable {
        /// The doorbell's button.
        case button(ButtonPress)
        /// Something that the camera notices.
        case detection(CameraDetection.Kind)
    }

    /// What it is about.
    public var subject: Subject
    /// Identifies the sensor. Readings of one sensor follow one another; several sensors may notice the same.
    public var sensor: String
    /// Whether it is present now; nil for an event without a duration.
    public var isActive: Bool?
    /// Whether this is the state at the time of the subscription, so that nothing has just happened.
    public var isInitial: Bool
    /// When it happened by the camera's clock.
    public var cameraTime: WallTime?

    /// Makes a reading.
    public init(
        subject: Subject, sensor: String, isActive: Bool?, isInitial: Bool = false, cameraTime: WallTime? = nil
    ) {
        self.subject = subject
        self.sensor = sensor
        self.isActive = isActive
        self.isInitial = isInitial
        self.cameraTime = cameraTime
    }
}
