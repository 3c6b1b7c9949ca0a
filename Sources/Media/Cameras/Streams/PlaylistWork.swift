import DatagramPort
import HTTPMedia
import StreamFormats
import Transport

/// The playlists of a stream: what of them has been fetched.
struct PlaylistWork {
    private struct Rendition {
        var address: HTTPAddress
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
    private let control: SourceControl
    private var renditions: [Rendition] = []
    private var opened: StreamPlaylist.Media?
    /// The newest key of the stream, and where it came from.
    var newestKey: (address: HTTPAddress, bytes: [UInt8])?

    /// Playing begins so many segments before the newest.
    private static let firstSegments = 2
    static let answerTimeout = Duration.seconds(10)
    private static let segmentTimeout = Duration.seconds(30)
    private static let maximumUnreadable = 10
    private static let maximumWaiting = 24 << 20
    private static let maximumSegment = 64 << 20
    private static let maximumInitialization = 1 << 20
    private static let maximumLeftOut = 16

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
            guard let media = try takeMedia(index) else {
                renditions[index].reload = begun + .milliseconds(500)
                continue
            }
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

    /// The playlist as it is now; nil where it cannot be read, which may be for a moment only: some servers empty the
    /// file and write it again.
    private mutating func takeMedia(_ index: Int) throws(CameraFailure) -> StreamPlaylist.Media? {
        if let media = opened {
            opened = nil
            return media
        }
        do throws(CameraFailure) {
            let (playlist, place) = try playlist(at: renditions[index].address)
            guard case .media(let media) = playlist else {
                throw .stream(.format(.damaged("a playlist of playlists names another one")))
            }
            renditions[index].address = place
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

    private mutating func playlist(at address: HTTPAddress) throws(CameraFailure) -> (StreamPlaylist, HTTPAddress) {
        var bytes: [UInt8] = []
        let place = try fetch(
            address, limit: StreamPlaylist.maximumLength, within: Self.answerTimeout
        ) { content throws(CameraFailure) in bytes.append(contentsOf: content) }
        do throws(StreamFormatError) {
            return (try StreamPlaylist(parsing: String(decoding: bytes, as: UTF8.self)), place)
        } catch {
            throw .stream(.format(error))
        }
    }

    /// Where a playlist's reference leads. It has to be the camera's own host.
    func resolve(_ reference: String, in place: HTTPAddress) throws(CameraFailure) -> HTTPAddress {
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
        let new = chooseSegments(of: media, index)
        for segment in new where !control.isStopping {
            try fetch(segment, index, into: fetcher)
            renditions[index].next = segment.sequence + 1
            renditions[index].lastPart = segment.resource.bytes
            while !control.isStopping, fetcher.fetched.withLock({ $0.paced.byteCount }) > Self.maximumWaiting {
                control.wait(until: MonotonicClock.now + .milliseconds(200))
            }
        }
        return !new.isEmpty
    }

    /// The segments of a playlist that have not been fetched.
    private mutating func chooseSegments(
        of media: StreamPlaylist.Media, _ index: Int
    ) -> ArraySlice<StreamPlaylist.Segment> {
        let newest = media.segments.suffix(Self.firstSegments)
        guard let next = renditions[index].next else { return media.hasEnded ? media.segments[...] : newest }
        guard let last = media.segments.last else { return [] }
        let fetched = renditions[index].lastPart, part = last.resource.bytes
        if last.sequence < next - 1 || last.sequence == next - 1 && isBefore(part, fetched) {
            // The server has started again, and counts from the beginning.
            renditions[index].next = nil
            renditions[index].epoch += 1
            renditions[index].demuxer = nil
            return newest
        }
        if last.sequence == next - 1, isBefore(fetched, part) {
            // FFmpeg gives the oldest part of its one file the number 0, always.
            return media.segments.filter { isBefore(fetched, $0.resource.bytes) }[...]
        }
        return media.segments.filter { $0.sequence >= next }[...]
    }

    /// Whether both are parts of files, and the first one lies before the other.
    private func isBefore(_ part: Range<Int64>?, _ other: Range<Int64>?) -> Bool {
        guard let part, let other else { return false }
        return part.lowerBound < other.lowerBound
    }

    private mutating func fetch(
        _ segment: StreamPlaylist.Segment, _ index: Int, into fetcher: PlaylistFetcher
    ) throws(CameraFailure) {
        if segment.isDiscontinuous, renditions[index].next != nil {
            renditions[index].epoch += 1
            renditions[index].demuxer = nil
        }
        if renditions[index].demuxer == nil || segment.initialization != renditions[index].initialization {
            renditions[index].initialization = segment.initialization
            renditions[index].demuxer = try demuxer(for: segment.initialization, index)
        }
        guard var demuxer = renditions[index].demuxer else { return }
        let epoch = renditions[index].epoch
        try fetch(
            segment.resource, segment.encryption, in: renditions[index].address, limit: Self.maximumSegment,
            within: Self.segmentTimeout
        ) { bytes throws(CameraFailure) in
            var units: [StreamUnit] = []
            do throws(StreamFormatError) {
                try demuxer.append(bytes) { units.append($0) }
            } catch {
                throw .stream(.format(error))
            }
            Self.pass(units, of: demuxer, epoch, to: fetcher)
            // Units of a few bytes take much more memory than the segment.
            guard !fetcher.fetched.withLock({ $0.paced.isOverfull }) else { throw .stream(.tooLarge) }
        }
        var units: [StreamUnit] = []
        demuxer.finish { units.append($0) }
        Self.pass(units, of: demuxer, epoch, to: fetcher)
        renditions[index].demuxer = demuxer
        let isLastOfFirst = renditions[index].next == nil
        if isLastOfFirst { fetcher.store { $0.awaitsTracks = demuxer.awaitsTracks } }
    }

    private mutating func demuxer(
        for initialization: StreamPlaylist.Initialization?, _ index: Int
    ) throws(CameraFailure) -> any StreamDemuxer {
        guard let initialization else { return TransportStreamDemuxer() }
        var header: [UInt8] = []
        try fetch(
            initialization.resource, initialization.encryption, in: renditions[index].address,
            limit: Self.maximumInitialization, within: Self.answerTimeout
        ) { bytes throws(CameraFailure) in header.append(contentsOf: bytes) }
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
            // Each initialization can name others.
            for what in demuxer.leftOut
            where fetched.leftOut.count < Self.maximumLeftOut && !fetched.leftOut.contains(what) {
                fetched.leftOut.append(what)
            }
            for var unit in units where positions.indices.contains(unit.track) {
                unit.track = positions[unit.track]
                fetched.paced.append(unit, epoch: epoch, track: unit.track)
            }
        }
    }
}
