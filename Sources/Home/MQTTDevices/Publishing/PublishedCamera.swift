/// The part of a camera that is published on the broker.
public struct PublishedCamera: Sendable, Hashable {
    /// The identifier of the device.
    public var id: String
    /// The name that people read.
    public var name: String
    /// Whether it has a button.
    public var isDoorbell: Bool
    /// Whether it can be reached.
    public var isOnline: Bool
    /// What it detects, by the names of the API.
    public var detections: [String]
    /// What it detects now.
    public var activeDetections: Set<String>
    /// Whether it may be recorded; nil for a camera without that switch.
    public var allowsRecording: Bool?
    /// Whether it is recorded now.
    public var isRecording: Bool

    /// Describes a camera.
    public init(
        id: String, name: String, isDoorbell: Bool, isOnline: Bool, detections: [String] = [],
        activeDetections: Set<String> = [], allowsRecording: Bool? = nil, isRecording: Bool = false
    ) {
        self.id = id
        self.name = name
        self.isDoorbell = isDoorbell
        self.isOnline = isOnline
        self.detections = detections
        self.activeDetections = activeDetections
        self.allowsRecording = allowsRecording
        self.isRecording = isRecording
    }
}
