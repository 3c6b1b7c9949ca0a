import DatagramPort
import ONVIF
import RTSP
import StreamFormats
import Transport

/// Requests a stream's playlists and segments (RFC 8216) on a thread of its own, so that a server that answers slowly does
/// not delay the pictures that have come.
///
/// Each request goes to the host of the config, whatever a playlist names.
final class PlaylistFetcher: Sendable {
    /// What has been fetched.
    struct Fetched {
        var paced = PacedUnits()
        /// At most one track of video and one of audio, whichever playlist they came from.
        var tracks: [StreamTrack] = []
        var awaitsTracks = true
        var leftOut: [String] = []
        /// Whether each playlist has given something, so that playing can begin.
        var isPrimed = false
        /// Why fetching has ended; nil while it goes on.
        var end: CameraFailure?
    }

    let fetched = Locked(Fetched())
    /// Stops the thread.
    let control: SourceControl
    private let owner: SourceControl

    /// What is fetched wakes up `owner`. Nil when the process has no file descriptor left.
    init?(owner: SourceControl) {
        guard let control = SourceControl() else { return nil }
        self.control = control
        self.owner = owner
    }

    /// Fetches until something fails, or the stream ends.
    func run(_ client: CameraHTTPClient, at address: HTTPAddress, random: RandomSource) {
        var work = PlaylistWork(client: client, random: random, control: control)
        do throws(CameraFailure) {
            try work.open(address)
            while !control.isStopping, !work.hasEnded {
                try work.fetchNew(into: self)
                store { $0.isPrimed = true }
                work.waitForReload()
            }
            end(.stream(.ended))
        } catch {
            end(error)
        }
        control.markEnded()
    }

    private func end(_ reason: CameraFailure) {
        store { fetched in
            fetched.isPrimed = true
            fetched.end = reason
        }
    }

    /// Changes what is there, and wakes up the owner.
    func store(_ change: (inout Fetched) -> Void) {
        fetched.withLock { change(&$0) }
        owner.wake()
    }
}

/// The playlists of a stream: what of them has been fetched.
struct PlaylistWork {
    private struct Rendition {
        var address: HTTPAddress
        var next: Int64?
        var epoch = 0
        var initialization: String?
        var demuxer: (any StreamDemuxer)?
        var hasEnded = false
        var reload: Instant
    }

    private var client: CameraHTTPClient
    private var random: RandomSource
    private let control: SourceControl
    private var renditions: [Rendition] = []
    private var opened: StreamPlaylist.Media?

    /// Playing begins so many segments before the newest.
    private static let firstSegments = 2
    private static let answerTimeout = Duration.seconds(10)
    private static let segmentTimeout = Duration.seconds(30)
    private static let maximumWaiting = 24 << 20
    private static let maximumSegment = 64 << 20
    private static let maximumInitialization = 1 << 20

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
        let (playlist, place) = try playlist(at: address)
        switch playlist {
        case .media(let media):
            opened = media
            renditions = [Rendition(address: place, reload: MonotonicClock.now)]
        case .multivariant(let streams):
            for reference in [streams.address] + (streams.audio.map { [$0] } ?? []) {
                renditions.append(
                    Rendition(address: try resolve(reference, in: place), reload: MonotonicClock.now))
            }
        }
    }

    /// Fetches the segments that have not been fetched yet.
    mutating func fetchNew(into fetcher: PlaylistFetcher) throws(CameraFailure) {
        for index in renditions.indices
        where !renditions[index].hasEnded && renditions[index].reload <= MonotonicClock.now {
            let begun = MonotonicClock.now
            let media = try takeMedia(index)
            let isNew = try fetchSegments(of: media, index, into: fetcher)
            renditions[index].hasEnded = media.hasEnded
            // Section 6.3.4: after the duration of a segment, or after half of it where nothing was new.
            let pause = Duration.milliseconds(Int64(media.targetDuration * (isNew ? 1000 : 500)))
            renditions[index].reload = begun + max(pause, .milliseconds(500))
        }
    }

    /// Waits until a playlist may be requested again.
    func waitForReload() {
        guard let next = renditions.filter({ !$0.hasEnded }).map(\.reload).min() else { return }
        control.wait(until: next)
    }

    private mutating func takeMedia(_ index: Int) throws(CameraFailure) -> StreamPlaylist.Media {
        if let media = opened {
            opened = nil
            return media
        }
        let (playlist, place) = try playlist(at: renditions[index].address)
        guard case .media(let media) = playlist else {
            throw .stream(.format(.damaged("a playlist of playlists names another one")))
        }
        renditions[index].address = place
        return media
    }

    private mutating func playlist(at address: HTTPAddress) throws(CameraFailure) -> (StreamPlaylist, HTTPAddress) {
        var bytes: [UInt8] = []
        let place = try fetch(
            address, limit: StreamPlaylist.maximumLength, within: Self.answerTimeout
        ) { (content: UnsafeRawBufferPointer) throws(CameraFailure) in bytes.append(contentsOf: content) }
        do throws(StreamFormatError) {
            return (try StreamPlaylist(parsing: String(decoding: bytes, as: UTF8.self)), place)
        } catch {
            throw .stream(.format(error))
        }
    }

    /// Where a playlist's reference leads. It has to be the camera's own host.
    private func resolve(_ reference: String, in place: HTTPAddress) throws(CameraFailure) -> HTTPAddress {
        let resolved = PlaylistReference.resolve(reference, in: place.path)
        guard let resolved, let address = place.redirected(to: resolved),
            address.host.lowercased() == client.home.host.lowercased()
        else {
            // What follows a question mark may be a secret.
            let shown = reference.prefix { $0 != "?" }.filter { $0.isASCII && $0 > " " }.prefix(120)
            throw .stream(.leadsElsewhere(address: String(shown)))
        }
        return address
    }

    // MARK: Segments

    /// Returns whether the playlist had a new segment.
    private mutating func fetchSegments(
        of media: StreamPlaylist.Media, _ index: Int, into fetcher: PlaylistFetcher
    ) throws(CameraFailure) -> Bool {
        var new = media.segments[...]
        if let next = renditions[index].next {
            if let last = media.segments.last, last.sequence < next - 1 {
                // The server has started again, and counts from the beginning.
                renditions[index].next = nil
                renditions[index].epoch += 1
                renditions[index].demuxer = nil
                new = new.suffix(Self.firstSegments)
            } else {
                new = new.filter { $0.sequence >= next }[...]
            }
        } else if !media.hasEnded {
            new = new.suffix(Self.firstSegments)
        }
        for segment in new where !control.isStopping {
            try fetch(segment, index, into: fetcher)
            renditions[index].next = segment.sequence + 1
            while !control.isStopping, fetcher.fetched.withLock({ $0.paced.byteCount }) > Self.maximumWaiting {
                control.wait(until: MonotonicClock.now + .milliseconds(200))
            }
        }
        return !new.isEmpty
    }

    private mutating func fetch(
        _ segment: StreamPlaylist.Segment, _ index: Int, into fetcher: PlaylistFetcher
    ) throws(CameraFailure) {
        let isFragment = segment.initialization != nil
        if segment.isDiscontinuous, renditions[index].next != nil {
            renditions[index].epoch += 1
            renditions[index].demuxer = nil
        }
        if renditions[index].demuxer == nil || segment.initialization != renditions[index].initialization {
            renditions[index].initialization = segment.initialization
            renditions[index].demuxer =
                isFragment ? try fragments(segment.initialization ?? "", index) : TransportStreamDemuxer()
        }
        guard var demuxer = renditions[index].demuxer else { return }
        let address = try resolve(segment.address, in: renditions[index].address)
        let epoch = renditions[index].epoch
        _ = try fetch(
            address, limit: Self.maximumSegment, within: Self.segmentTimeout
        ) { (bytes: UnsafeRawBufferPointer) throws(CameraFailure) in
            var units: [StreamUnit] = []
            do throws(StreamFormatError) {
                try demuxer.append(bytes) { units.append($0) }
            } catch {
                throw .stream(.format(error))
            }
            Self.pass(units, of: demuxer, epoch, to: fetcher)
        }
        var units: [StreamUnit] = []
        demuxer.finish { units.append($0) }
        Self.pass(units, of: demuxer, epoch, to: fetcher)
        renditions[index].demuxer = demuxer
        let isLastOfFirst = renditions[index].next == nil
        if isLastOfFirst { fetcher.store { $0.awaitsTracks = demuxer.awaitsTracks } }
    }

    private mutating func fragments(
        _ initialization: String, _ index: Int
    ) throws(CameraFailure) -> any StreamDemuxer {
        let address = try resolve(initialization, in: renditions[index].address)
        var header: [UInt8] = []
        _ = try fetch(
            address, limit: Self.maximumInitialization, within: Self.answerTimeout
        ) { (bytes: UnsafeRawBufferPointer) throws(CameraFailure) in header.append(contentsOf: bytes) }
        do throws(StreamFormatError) {
            return try FragmentDemuxer(header: header)
        } catch {
            throw .stream(.format(error))
        }
    }

    /// Passes units on, with the positions that their tracks have among those of all playlists.
    private static func pass(
        _ units: [StreamUnit], of demuxer: any StreamDemuxer, _ epoch: Int, to fetcher: PlaylistFetcher
    ) {
        guard !units.isEmpty else { return }
        let tracks = demuxer.tracks
        fetcher.store { fetched in
            let positions = tracks.map { track in
                if let known = fetched.tracks.firstIndex(where: { $0.codec.isVideo == track.codec.isVideo }) {
                    fetched.tracks[known] = track
                    return known
                }
                fetched.tracks.append(track)
                return fetched.tracks.count - 1
            }
            for what in demuxer.leftOut where !fetched.leftOut.contains(what) { fetched.leftOut.append(what) }
            for var unit in units where positions.indices.contains(unit.track) {
                unit.track = positions[unit.track]
                fetched.paced.append(unit, epoch: epoch, track: unit.track)
            }
        }
    }

    // MARK: Requests

    /// Requests a file, and passes its content to `body`.
    /// - Returns: where it came from, after redirections.
    private mutating func fetch(
        _ address: HTTPAddress, limit: Int, within timeout: Duration,
        _ body: (UnsafeRawBufferPointer) throws(CameraFailure) -> Void
    ) throws(CameraFailure) -> HTTPAddress {
        let deadline = MonotonicClock.now + timeout
        switch client.request(address, until: deadline, random: &random, connecting: {}) {
        case .stopped, .abandoned: throw .connectionClosed
        case .failed(let reason): throw reason
        case .answered(let response):
            var count = 0
            var isOpen = true
            while isOpen {
                var pieces: [[UInt8]] = []
                isOpen = try response.receiveContent(until: deadline) { pieces.append(Array($0)) }
                for piece in pieces {
                    count += piece.count
                    guard count <= limit else { throw .stream(.tooLarge) }
                    try Self.withBytes(of: piece, body)
                }
            }
            return response.address ?? address
        }
    }

    private static func withBytes(
        of piece: [UInt8], _ body: (UnsafeRawBufferPointer) throws(CameraFailure) -> Void
    ) throws(CameraFailure) {
        try piece.withUnsafeBufferPointer { (bytes: UnsafeBufferPointer<UInt8>) throws(CameraFailure) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}
