import Transport

/// What the start of a fragmented file, or a CMAF header, says about its tracks (ISO/IEC 14496-12, section 8).
public struct MP4Header: Equatable, Sendable {
    /// The most bytes that are read as a header.
    public static let maximumLength = 1 << 20
    /// The most tracks that are read.
    public static let maximumTracks = 16

    /// One track.
    public struct Track: Equatable, Sendable {
        /// Its number in the file, from 1.
        public var identifier: UInt32
        /// Ticks of its times in a second.
        public var timescale: UInt32
        /// Whether it holds pictures or sound.
        public var isVideo: Bool
        /// The box that describes its samples, whole: the codec and what its decoder needs. Tracks can be joined when
        /// these bytes are equal.
        public var sampleEntry: [UInt8]
        /// The type of the sample entry, for example `avc1`.
        public var format: String
        /// Width and height in pixels, 0 for sound.
        public var width: UInt16
        public var height: UInt16
        /// What samples of a fragment have that does not say otherwise (`trex`).
        public var defaults: MP4SampleDefaults
    }

    /// The tracks in the order of the file.
    public var tracks: [Track]

    /// Reads a header: `ftyp`, which may be missing, and `moov`.
    /// - Throws: ``MP4ReadError``.
    public init(parsing bytes: UnsafeRawBufferPointer) throws(MP4ReadError) {
        guard bytes.count <= Self.maximumLength else { throw .tooLarge(.header, limit: Self.maximumLength) }
        let movie = try MP4Boxes(bytes).required("moov")
        tracks = []
        var boxes = try movie.children()
        while let box = try boxes.next() {
            guard box.type == MP4Boxes.code("trak") else { continue }
            guard tracks.count < Self.maximumTracks else { throw .tooLarge(.tracks, limit: Self.maximumTracks) }
            if let track = try Self.track(box) {
                guard !tracks.contains(where: { $0.identifier == track.identifier }) else {
                    throw box.invalid(.repeatedTrackNumber)
                }
                tracks.append(track)
            }
        }
        guard !tracks.isEmpty else { throw .missingBox("trak") }
        guard let extends = try movie.children().first("mvex") else { return }
        var list = try extends.children()
        while let box = try list.next() {
            guard box.type == MP4Boxes.code("trex") else { continue }
            var (_, _, fields) = try box.full()
            guard let identifier: UInt32 = fields.read(), fields.skip(4), let duration: UInt32 = fields.read(),
                let size: UInt32 = fields.read(), let flags: UInt32 = fields.read()
            else { throw box.invalid(.tooShort) }
            if let index = tracks.firstIndex(where: { $0.identifier == identifier }) {
                tracks[index].defaults = MP4SampleDefaults(duration: duration, size: size, flags: flags)
            }
        }
    }

    /// Reads a header from an array.
    public init(_ bytes: [UInt8]) throws(MP4ReadError) {
        let result = bytes.withUnsafeBytes { raw -> Result<MP4Header, MP4ReadError> in
            do throws(MP4ReadError) { return .success(try MP4Header(parsing: raw)) } catch { return .failure(error) }
        }
        self = try result.get()
    }

    /// A track; nil if it holds neither pictures nor sound.
    private static func track(_ box: MP4Boxes.Box) throws(MP4ReadError) -> Track? {
        let header = try box.children().required("tkhd")
        var (version, _, fields) = try header.full()
        guard version <= 1, fields.skip(version == 1 ? 16 : 8), let identifier: UInt32 = fields.read(), identifier != 0
        else { throw header.invalid(.noTrackNumber) }
        let media = try box.children().required("mdia")
        let mediaHeader = try media.children().required("mdhd")
        var (mediaVersion, _, mediaFields) = try mediaHeader.full()
        guard mediaVersion <= 1, mediaFields.skip(mediaVersion == 1 ? 16 : 8),
            let timescale: UInt32 = mediaFields.read(), timescale > 0, timescale <= 1 << 30
        else { throw mediaHeader.invalid(.noTimescale) }
        let handler = try media.children().required("hdlr")
        var (_, _, handlerFields) = try handler.full()
        guard handlerFields.skip(4), let kind: UInt32 = handlerFields.read() else {
            throw handler.invalid(.tooShort)
        }
        let isVideo = kind == MP4Boxes.code("vide")
        guard isVideo || kind == MP4Boxes.code("soun") else { return nil }
        let table = try media.children().required("minf").children().required("stbl")
        let descriptions = try table.children().required("stsd")
        var (_, _, descriptionFields) = try descriptions.full()
        guard let count: UInt32 = descriptionFields.read(), count == 1 else {
            throw .unsupported(.severalDescriptions)
        }
        var entries = try descriptions.children(after: 8)
        guard let entry = try entries.next() else { throw .missingSampleEntry }
        var entryFields = ByteReader(entry.content)
        var size: (UInt16, UInt16) = (0, 0)
        if isVideo {
            guard entryFields.skip(24), let width: UInt16 = entryFields.read(), let height: UInt16 = entryFields.read()
            else { throw entry.invalid(.tooShort) }
            size = (width, height)
        }
        return Track(
            identifier: identifier, timescale: timescale, isVideo: isVideo, sampleEntry: Array(entry.whole),
            format: entry.name, width: size.0, height: size.1, defaults: MP4SampleDefaults())
    }
}

/// What a sample has when its fragment does not say so.
public struct MP4SampleDefaults: Equatable, Sendable {
    /// In the track's timescale.
    public var duration: UInt32 = 0
    /// In bytes.
    public var size: UInt32 = 0
    /// ISO/IEC 14496-12, section 8.8.3.1.
    public var flags: UInt32 = 0

    /// Names all fields.
    public init(duration: UInt32 = 0, size: UInt32 = 0, flags: UInt32 = 0) {
        self.duration = duration
        self.size = size
        self.flags = flags
    }
}
