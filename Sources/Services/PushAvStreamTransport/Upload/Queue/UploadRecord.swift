/// A change of the queue that outlives a restart. The queue is what its records say, applied in their order. Applying one
/// twice changes nothing.
public enum UploadRecord: Codable, Equatable, Sendable {
    /// A recording began.
    case opened(UploadSession)
    /// A segment is complete.
    case segment(RecordingSession.ID, UploadSegment)
    /// The recording has ended.
    case ended(RecordingSession.ID)
    /// The receiver has an object.
    case sent(RecordingSession.ID, UploadItem)
    /// A segment left the queue without being uploaded.
    case dropped(RecordingSession.ID, track: Int, number: UInt32)
    /// Nothing more is to be uploaded of the recording.
    case closed(RecordingSession.ID)
}
