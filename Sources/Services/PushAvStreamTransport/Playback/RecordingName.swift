/// The names of recordings in addresses and on the command line: those of their folders, `START-EPOCH-SEQUENCE`.
extension RecordingSession.ID {
    /// The name within its device, for example `20261122T174351.123Z-4-17`.
    public var name: String { RecordingLayout.name(self) }

    /// The recording of a device with this name; nil when it is not a name of a recording.
    public init?(device: String, name: String) {
        guard name.utf8.count <= 64, let start = RecordingLayout.milliseconds(name.prefix { $0 != "-" }),
            let id = RecordingLayout.id(device: device, day: RecordingLayout.day(start), name: name)
        else { return nil }
        self = id
    }
}
