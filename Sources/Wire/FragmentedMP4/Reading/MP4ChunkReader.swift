import Transport

/// Finds the chunks of a file, without reading the media. It does no I/O: the caller hands it a window of the file, and
/// learns where the next chunk begins, or how much more it needs.
public struct MP4ChunkReader: Sendable {
    /// What a window held.
    public enum Outcome: Equatable, Sendable {
        /// A chunk. The next one begins at its ``MP4Chunk/end``.
        case chunk(MP4Chunk)
        /// The window has to hold this many bytes from the same place.
        case needs(Int)
        /// What is there is no chunk; the next box begins at this place.
        case skip(to: Int64)
        /// The file ends in the middle of a chunk, as after a power cut. What lies before is whole.
        case cutOff
    }

    /// The most bytes of boxes before the media of a chunk.
    public static let maximumHeaderLength = 4 << 20
    /// The most samples of a chunk.
    public static let maximumSamples = 1 << 17
    /// A window of this size usually holds everything of a chunk except its media.
    public static let usualWindow = 4 << 10

    /// The tracks, from the header.
    public let header: MP4Header

    /// Reads chunks of these tracks.
    public init(header: MP4Header) {
        self.header = header
    }

    /// Reads the chunk that begins at `offset`.
    /// - Parameters:
    ///   - window: the bytes of the file from `offset` on. It may be shorter than the chunk.
    ///   - offset: where the window begins in the file.
    ///   - fileLength: the length of the whole file.
    /// - Throws: ``MP4ReadError`` for what cannot be read. Nothing behind it can be read either.
    public func read(
        _ window: UnsafeRawBufferPointer, at offset: Int64, fileLength: Int64
    ) throws(MP4ReadError) -> Outcome {
        var position = 0
        var producerTime: MP4Chunk.ProducerTime?
        var fragment: (box: MP4Boxes.Box, track: MP4Header.Track)?
        while true {
            let place = offset + Int64(position)
            // The end of the file between two chunks is not seen here: the caller stops there.
            guard let head = MP4Boxes.head(UnsafeRawBufferPointer(rebasing: window[position...])) else {
                return try more(position + 16, window, offset, fileLength)
            }
            let length = head.length == 0 ? fileLength - place : head.length
            guard length >= Int64(head.header) else {
                throw .invalidBox(MP4Boxes.name(head.type), offset: place, .impossibleLength)
            }
            let isWhole = length <= fileLength - place
            if head.type == MP4Boxes.code("mdat") {
                guard let (box, track) = fragment else {
                    return isWhole ? .skip(to: place + length) : .cutOff
                }
                guard isWhole else { return .cutOff }
                let media = place + Int64(head.header)..<place + length
                return .chunk(try chunk(box, track, media: media, producerTime: producerTime))
            }
            guard isWhole else { return .cutOff }
            guard length <= Int64(Self.maximumHeaderLength) - Int64(position) else {
                // Something large that is neither a chunk's header nor its media.
                guard fragment == nil, head.type != MP4Boxes.code("moof") else {
                    throw .tooLarge(.headerOfChunk, limit: Self.maximumHeaderLength)
                }
                return .skip(to: place + length)
            }
            let isRead = [MP4Boxes.code("moof"), MP4Boxes.code("prft")].contains(head.type)
            let end = position + Int(length)
            if isRead {
                guard end <= window.count else { return try more(end + 16, window, offset, fileLength) }
                let box = MP4Boxes.Box(
                    type: head.type, whole: UnsafeRawBufferPointer(rebasing: window[position..<end]),
                    content: UnsafeRawBufferPointer(rebasing: window[position + head.header..<end]), offset: place)
                if head.type == MP4Boxes.code("prft") {
                    producerTime = try Self.producerTime(box)
                } else {
                    guard fragment == nil else { throw box.invalid(.noMedia) }
                    fragment = (box, try track(of: box))
                }
            } else if fragment == nil, producerTime == nil, position == 0, end > window.count {
                return .skip(to: place + length)
            }
            position = end
            guard offset + Int64(position) < fileLength else {
                return fragment == nil && producerTime == nil ? .skip(to: fileLength) : .cutOff
            }
            guard position < window.count else { return try more(position + 16, window, offset, fileLength) }
        }
    }

    private func more(
        _ count: Int, _ window: UnsafeRawBufferPointer, _ offset: Int64, _ fileLength: Int64
    ) throws(MP4ReadError) -> Outcome {
        let there = fileLength - offset
        // The window already holds the rest of the file.
        if Int64(window.count) >= there { return .cutOff }
        guard count <= Self.maximumHeaderLength + 64 else {
            throw .tooLarge(.headerOfChunk, limit: Self.maximumHeaderLength)
        }
        return .needs(Int(min(Int64(count), there)))
    }

    /// The track of a fragment. CMAF has one in each (ISO/IEC 23000-19, section 7.3.2.3).
    private func track(of fragment: MP4Boxes.Box) throws(MP4ReadError) -> MP4Header.Track {
        let box = try fragment.children().required("traf")
        let header = try box.children().required("tfhd")
        var (_, _, fields) = try header.full()
        guard let identifier: UInt32 = fields.read() else { throw header.invalid(.tooShort) }
        guard let track = self.header.tracks.first(where: { $0.identifier == identifier }) else {
            throw header.invalid(.unknownTrack(identifier))
        }
        return track
    }
}
