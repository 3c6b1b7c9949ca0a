import PushAvStreamTransport

extension ReaderEnd {
    /// What a failed playback means to its reader.
    init(_ error: PlaybackError) {
        switch error {
        case .formatChanges(let at, _, _): self = .formatChanged(at: at)
        case _ where error.isDeletion: self = .footageDeleted
        default: self = .footageUnreadable
        }
    }
}
