import DatagramPort
import HTTPMedia
import StreamFormats
import Transport

/// The playlists of a stream: what of them has been fetched.
struct PlaylistWork {
    /// A playlist of segments: all of the stream, its pictures, or its sound.
    struct Rendition {
        var place: RequestPlace
        /// Segments of the newest playlist that have not been fetched yet.
        var pending: ArraySlice<StreamPlaylist.Segment> = []
        /// How many segments have been fetched, and how many seconds they last.
        var fetched: (count: Int, seconds: Double) = (0, 0)
        var next: Int64?
        /// The part of a file that was fetched last, if it was one.
        var lastPart: Range<Int64>?
        var epoch = 0
        var initialization: StreamPlaylist.Initialization?
        var demuxer: (any StreamDemuxer)?
        var hasEnded = false
        /// How many times in a row the playlist could not be read.
        var unreadable = 0
        var reload: Instant
    }

    var client: CameraHTTPClient
    var random: RandomSource
    let control: SourceControl
    var renditions: [Rendition] = []
    private var opened: StreamPlaylist.Media?
    /// The newest key of the stream, and where it came from.
    var newestKey: (place: RequestPlace, bytes: [UInt8])?
    /// Answers with whole files, of which the next parts are read (``FileReader``).
    var openFiles: [FileReader] = []

    static let answerTimeout = Duration.seconds(10)
    private static let maximumUnreadable = 10

    init(client: CameraHTTPClient, random: RandomSource, control: SourceControl) {
        self.client = client
        self.random = random
        self.control = control
    }

    /// Whether no segment will follow.
    var hasEnded: Bool { renditions.allSatisfy(\.hasEnded) }

    // MARK: Playlists

    /// Reads the first playlist, which may name others.
    mutating func open(_ address: HTTPAddress) throws(CameraFailure) {
        let (playlist, place) = try playlist(at: RequestPlace(address))
        switch playlist {
        case .media(let media):
            opened = media
            renditions = [Rendition(place: place, reload: MonotonicClock.now)]
        case .multivariant(let streams):
            for reference in [streams.address] + (streams.audio.map { [$0] } ?? []) {
                let target = try place.following(reference, from: client.home)
                renditions.append(Rendition(place: target, reload: MonotonicClock.now))
            }
        }
    }

    /// Fetches the segments that have not been fetched yet.
    mutating func fetchNew(into fetcher: PlaylistFetcher) throws(CameraFailure) {
        for index in renditions.indices
        where !renditions[index].hasEnded && renditions[index].reload <= MonotonicClock.now {
            let begun = MonotonicClock.now
            guard let media = try takeMedia(index) else {
                renditions[index].reload = begun + .milliseconds(500)
                continue
            }
            let new = chooseSegments(of: media, index)
            renditions[index].pending = new
            renditions[index].hasEnded = media.hasEnded
            // Section 6.3.4: after the duration of a segment, or after half of it where nothing was new.
            let pause = Duration.milliseconds(Int64(media.targetDuration * (new.isEmpty ? 500 : 1000)))
            renditions[index].reload = begun + max(pause, .milliseconds(500))
        }
        try fetchPending(into: fetcher)
    }

    /// Waits until a playlist may be requested again.
    func waitForReload() {
        guard let next = renditions.filter({ !$0.hasEnded }).map(\.reload).min() else { return }
        control.wait(until: next)
    }

    /// The playlist as it is now; nil where it cannot be read, which may be for a moment only: some servers empty the
    /// file and write it again.
    private mutating func takeMedia(_ index: Int) throws(CameraFailure) -> StreamPlaylist.Media? {
        if let media = opened {
            opened = nil
            return media
        }
        do throws(CameraFailure) {
            let (playlist, place) = try playlist(at: renditions[index].place)
            guard case .media(let media) = playlist else {
                throw .stream(.format(.damaged(.nestedPlaylist)))
            }
            renditions[index].place = place
            renditions[index].unreadable = 0
            return media
        } catch {
            renditions[index].unreadable += 1
            guard case .stream(.format) = error, renditions[index].next != nil,
                renditions[index].unreadable < Self.maximumUnreadable
            else { throw error }
            return nil
        }
    }

    private mutating func playlist(at target: RequestPlace) throws(CameraFailure) -> (StreamPlaylist, RequestPlace) {
        var bytes: [UInt8] = []
        let place = try fetch(
            target, limit: StreamPlaylist.maximumLength, within: Self.answerTimeout
        ) { content throws(CameraFailure) in bytes.append(contentsOf: content) }
        do throws(StreamFormatError) {
            return (try StreamPlaylist(parsing: String(decoding: bytes, as: UTF8.self)), place)
        } catch {
            throw .stream(.format(error))
        }
    }
}
