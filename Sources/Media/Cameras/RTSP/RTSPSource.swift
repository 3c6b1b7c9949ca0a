import RTP
import RTSP
import Transport

/// A camera that is pulled by RTSP over TCP (RFC 2326): H.264 or VP8, with Opus or G.711 where it has sound.
///
/// It runs on a thread of its own from ``start(sink:)`` to ``stop()``, watches that the video flows, and connects again
/// with growing, jittered pauses when it does not. To the sink a reconnection is a pause: sequence numbers and
/// timestamps go on.
public final class RTSPSource: CameraSource {
    /// How patient the source is.
    public struct Configuration: Sendable {
        /// How long a connection may take to open, for each address of the host.
        public var connectTimeout: Duration = .seconds(5)
        /// How long an answer may take.
        public var answerTimeout: Duration = .seconds(10)
        /// How long after PLAY the first packet may take. Some cameras wake an encoder up first.
        public var firstPacketTimeout: Duration = .seconds(10)
        /// How long the video may be silent before the source starts again.
        public var stallTimeout: Duration = .seconds(5)
        /// The longest payload that is handed out, in bytes; longer ones are cut anew.
        public var maximumPayloadLength: Int = PayloadLimit.standard

        /// The usual patience.
        public init() {}
    }

    /// The camera's address; prints without credentials.
    public let url: RTSPURL
    private let configuration: Configuration
    private let shared = Locked(Shared())
    private let noteBook = NoteBook()

    private struct Shared {
        var control: SourceControl?
        var sink: (any CameraSink)?
    }

    /// Apart from the source, so that the thread never holds the source itself: its end would wait for the thread.
    private final class NoteBook: Sendable {
        let notes = Locked<[String]>([])
    }

    /// A source for a camera.
    public init(url: RTSPURL, configuration: Configuration = Configuration()) {
        self.url = url
        self.configuration = configuration
    }

    /// A source for a camera's address, `rtsp://user:password@host:port/path`.
    public convenience init(
        address: String, configuration: Configuration = Configuration()
    ) throws(RTSPError) {
        self.init(url: try RTSPURL(parsing: address), configuration: configuration)
    }

    deinit {
        _ = shared.withLock { $0.control }?.stop()
    }

    /// In words, what of the camera's description is not pulled and why.
    public var notes: [String] { noteBook.notes.withLock { $0 } }

    /// RTSP back channels are not spoken yet.
    public var speaker: (any CameraSpeaker)? { nil }

    public func start(sink: any CameraSink) {
        shared.withLock { shared in
            guard shared.control == nil else { return }
            guard let control = SourceControl() else {
                sink.handle(.state(.backingOff(seconds: 0, reason: "the process has no file descriptor left")))
                return
            }
            shared.control = control
            shared.sink = sink
            let (url, configuration) = (url, configuration)
            let note: @Sendable ([String]) -> Void = { [noteBook] notes in
                noteBook.notes.withLock { $0 = notes }
            }
            let isRunning = startSourceThread {
                RTSPSupervisor.run(url: url, configuration: configuration, sink: sink, control: control, note: note)
            }
            if !isRunning {
                shared.control = nil
                sink.handle(.state(.backingOff(seconds: 0, reason: "the process has no thread left")))
            }
        }
    }

    public func stop() {
        let (control, sink) = shared.withLock { shared in
            defer {
                shared.control = nil
                shared.sink = nil
            }
            return (shared.control, shared.sink)
        }
        guard let control else { return }
        // A thread that was left behind in a look-up says nothing any more, so the last word is said here.
        if !control.stop() { sink?.handle(.state(.stopped)) }
    }

    public func requestKeyFrame(track: Int) {
        shared.withLock { $0.control }?.requestKeyFrame(track: track)
    }
}
