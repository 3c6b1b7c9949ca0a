import DatagramPort
import StreamFormats
import Transport

/// The segments that the playlists name.
extension PlaylistWork {
    /// Playing begins so many segments before the newest.
    private static var firstSegments: Int { 2 }
    private static var segmentTimeout: Duration { .seconds(30) }
    private static var maximumWaiting: Int { 24 << 20 }
    private static var maximumSegment: Int { 64 << 20 }
    private static var maximumInitialization: Int { 1 << 20 }
    private static var maximumLeftOut: Int { 16 }

    /// Fetches the pending segments, in the order in which they are shown. The segments of a recording wait until there is
    /// room for them.
    mutating func fetchPending(into fetcher: PlaylistFetcher) throws(CameraFailure) {
        while !control.isStopping, let index = nextRendition, let segment = renditions[index].pending.popFirst() {
            try fetch(segment, index, into: fetcher)
            renditions[index].next = segment.sequence + 1
            renditions[index].lastPart = segment.resource.bytes
            renditions[index].fetched.count += 1
            renditions[index].fetched.seconds += segment.duration
            if renditions.allSatisfy({ $0.pending.isEmpty || $0.fetched.count >= Self.firstSegments }) {
                fetcher.store { $0.isPrimed = true }
            }
            waitForRoom(in: fetcher)
        }
    }

    /// The playlist with pending segments of which the least has been fetched.
    private var nextRendition: Int? {
        renditions.indices.filter { !renditions[$0].pending.isEmpty }
            .min { renditions[$0].fetched.seconds < renditions[$1].fetched.seconds }
    }

    private func waitForRoom(in fetcher: PlaylistFetcher) {
        while !control.isStopping, fetcher.fetched.withLock({ $0.paced.byteCount }) > Self.maximumWaiting {
            // There is never room before playing has begun, whatever else is missing.
            fetcher.store { $0.isPrimed = true }
            control.wait(until: MonotonicClock.now + .milliseconds(200))
        }
    }

    /// The segments of a playlist that have not been fetched.
    mutating func chooseSegments(
        of media: StreamPlaylist.Media, _ index: Int
    ) -> ArraySlice<StreamPlaylist.Segment> {
        // A recording is played from its beginning.
        let first = media.hasEnded ? media.segments[...] : media.segments.suffix(Self.firstSegments)
        guard let next = renditions[index].next else { return first }
        guard let last = media.segments.last else { return [] }
        let fetched = renditions[index].lastPart, part = last.resource.bytes
        if last.sequence < next - 1 || last.sequence == next - 1 && isBefore(part, fetched) {
            // The server has started again, and counts from the beginning.
            renditions[index].next = nil
            renditions[index].epoch += 1
            renditions[index].demuxer = nil
            return first
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
            segment.resource, segment.encryption, in: renditions[index].place, limit: Self.maximumSegment,
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
            initialization.resource, initialization.encryption, in: renditions[index].place,
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
            for part in demuxer.leftOut
            where fetched.leftOut.count < Self.maximumLeftOut && !fetched.leftOut.contains(part) {
                fetched.leftOut.append(part)
            }
            for var unit in units where positions.indices.contains(unit.track) {
                unit.track = positions[unit.track]
                fetched.paced.append(unit, epoch: epoch, track: unit.track)
            }
        }
    }
}
