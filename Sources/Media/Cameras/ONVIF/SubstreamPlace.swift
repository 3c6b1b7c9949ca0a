import ONVIF
import RTSP
import Transport

/// Where the smaller stream of an ONVIF camera is: the source of the main stream asks the camera for both addresses and
/// passes on that of the smaller one.
final class SubstreamPlace: Sendable {
    /// What the camera has answered, once.
    struct Answer: Sendable {
        /// The address, or why there is none.
        var substream: Result<RTSPURL, ONVIFError>
        /// The logins of the main stream; nil where nobody logs in.
        var logins: CameraLogins?
    }

    private struct State {
        var isWanted = false
        var isAskedFirst = false
        /// Nil once it has been taken.
        var answer: Answer?
        var hasSubstream: Bool?
        var waiter: SourceControl?
    }

    private let state = Locked(State())

    /// Whether a source pulls the smaller stream.
    var isWanted: Bool { state.withLock { $0.isWanted } }

    /// Whether the camera has a smaller stream; nil while it has not answered.
    var hasSubstream: Bool? { state.withLock { $0.hasSubstream } }

    /// Whether the main stream waits until the camera has answered about the smaller one.
    var isAskedFirst: Bool { state.withLock { $0.isAskedFirst } }

    /// Asks for the address of the smaller stream, too.
    /// - Parameter beforeMain: whether the main stream waits for the answer.
    func want(beforeMain: Bool = false) {
        state.withLock { state in
            state.isWanted = true
            state.isAskedFirst = beforeMain
        }
    }

    /// Drops the answer, because the camera is asked again.
    func forget() {
        state.withLock { state in
            state.answer = nil
            state.hasSubstream = nil
        }
    }

    /// Passes on what the camera has answered.
    func put(_ substream: Result<RTSPURL, ONVIFError>, logins: CameraLogins?) {
        let hasSubstream: Bool
        switch substream {
        case .success: hasSubstream = true
        case .failure: hasSubstream = false
        }
        let waiter = state.withLock { state -> SourceControl? in
            state.answer = Answer(substream: substream, logins: logins)
            state.hasSubstream = hasSubstream
            return state.waiter
        }
        waiter?.wake()
    }

    /// Takes the newest answer; nil if there is none since the last one. The next one wakes `control`.
    func take(waking control: SourceControl) -> Answer? {
        state.withLock { state in
            state.waiter = control
            defer { state.answer = nil }
            return state.answer
        }
    }
}
