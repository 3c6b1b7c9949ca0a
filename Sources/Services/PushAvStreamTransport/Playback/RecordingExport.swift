import CFileStatus
import FragmentedMP4
import Glibc

/// One MP4 file of the footage of a range. Its bytes are read when they are needed: no temporary file is made.
public struct RecordingExport: Sendable {
    /// What happens to times at which nothing was recorded between two recordings.
    public enum Gaps: String, Sendable, CaseIterable {
        /// They stay as long as they were, so that a time in the file is a time of the day.
        case keep
        /// They are left out.
        case cut
    }

    /// A part of the range that the file does not show.
    public typealias Gap = Range<Int64>

    /// The most files that an export takes its media from.
    public static let maximumFiles = 200_000

    /// Between two recordings that are this far apart, in microseconds, there is room for reordered pictures.
    private static let smallestGap: Int64 = 2_000_000

    /// What the file is made of.
    public let file: MP4Export
    /// The files that it takes its media from.
    public let sources: [String]
    /// What it shows, in microseconds since 1970, UTC.
    public let range: Range<Int64>
    /// Where nothing was recorded between two recordings.
    public let gaps: [Gap]

    /// The length in bytes.
    public var length: Int64 { file.length }

    /// Puts the file together. The boxes of all segments are read, and none of the media.
    public init(_ footage: RecordedRange, gaps: Gaps = .keep) throws(PlaybackError) {
        guard let first = footage.pieces.first, let last = footage.pieces.last else { throw .nothingRecorded }
        var exporter = MP4Exporter(startTime: first.range.lowerBound / 1_000_000)
        var sources: [String] = []
        var missing: [Gap] = []
        // What is added to a wall time to get the time in the file.
        var shift = -first.range.lowerBound
        var end = first.range.lowerBound
        for (index, piece) in footage.pieces.enumerated() {
            if piece.range.lowerBound > end {
                missing.append(end..<piece.range.lowerBound)
                if gaps == .cut { shift -= piece.range.lowerBound - end }
            }
            end = piece.range.upperBound
            let next = gaps == .cut ? end : footage.pieces.dropFirst(index + 1).first?.range.lowerBound
            let isFollowed = index + 1 < footage.pieces.count && next.map { $0 - end < Self.smallestGap } == true
            try Self.add(piece, shift: shift, isFollowed: isFollowed, to: &exporter, &sources)
        }
        do throws(MP4ExportError) {
            file = try exporter.finish()
        } catch {
            throw Self.error(error, shift: shift)
        }
        self.sources = sources
        self.gaps = missing
        range = first.range.lowerBound..<last.range.upperBound
    }

    private static func add(
        _ piece: RecordedRange.Piece, shift: Int64, isFollowed: Bool, to exporter: inout MP4Exporter,
        _ sources: inout [String]
    ) throws(PlaybackError) {
        let session = piece.recording.session
        var headers: [MP4Header] = []
        for track in piece.tracks {
            let path = piece.recording.layout.initializationSegment(of: session.tracks[track].name, in: session.id)
            do throws(MP4ReadError) {
                headers.append(try MP4Header(Array(session.tracks[track].initializationSegment)))
            } catch {
                throw .unreadable(path: path, reason: .format(error))
            }
        }
        do throws(MP4ExportError) {
            try exporter.begin(
                MP4Exporter.Session(
                    tracks: headers.map { $0.tracks[0] }, start: piece.origin + shift,
                    range: piece.range.lowerBound + shift..<piece.range.upperBound + shift, isFollowed: isFollowed))
        } catch {
            throw Self.error(error, shift: shift)
        }
        for (index, track) in piece.tracks.enumerated() {
            let reader = MP4ChunkReader(header: headers[index])
            var isWanted = true
            for segment in piece.segments(ofTrack: track) where isWanted {
                guard sources.count < maximumFiles else {
                    throw .tooManySegments(limit: maximumFiles)
                }
                let file = try RecordedFile(path: piece.recording.path(of: segment))
                sources.append(file.path)
                let source = sources.count - 1
                try file.chunks(reader, length: segment.byteCount) { (chunk) throws(PlaybackError) in
                    do throws(MP4ExportError) {
                        isWanted = try exporter.add(chunk, track: index, source: source)
                    } catch {
                        throw Self.error(error, shift: shift)
                    }
                    return isWanted
                }
            }
        }
    }

    private static func error(_ error: MP4ExportError, shift: Int64) -> PlaybackError {
        switch error {
        case .formatChanges(_, let at, let from, let to): .formatChanges(at: at - shift, from: from, to: to)
        case .empty: .nothingRecorded
        case .gapTooLong(let seconds): .gapTooLong(seconds: seconds)
        case .tooManySamples(let limit): .tooManySamples(limit: limit)
        }
    }

    /// Names the content: two exports with the same tag have the same bytes (RFC 9110, section 8.8.3).
    public var entityTag: String {
        // FNV-1a over the tables, which hold the size of every sample, and over the names of the files, which are
        // written once.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        if case .bytes(let head) = file.pieces.first { mix(head) }
        for source in sources { mix(source.utf8) }
        return "\"\(String(hash, radix: 16))-\(String(file.length, radix: 16))\""
    }

    /// Writes the whole file to a descriptor. The kernel copies the media; on file systems that share blocks, it copies
    /// nothing.
    public func write(to descriptor: Int32) throws(PlaybackError) {
        var openedSource = -1
        var opened: RecordedFile?
        for piece in file.pieces {
            switch piece {
            case .bytes(let bytes): try Self.write(bytes, to: descriptor)
            case .source(let source, let offset, let length):
                if openedSource != source {
                    opened = try RecordedFile(path: sources[source])
                    openedSource = source
                }
                guard let from = opened?.descriptor else { continue }
                try Self.copy(from, sources[source], offset: offset, length: length, to: descriptor)
            }
        }
    }

    private static func copy(
        _ from: Int32, _ path: String, offset: Int64, length: Int64, to descriptor: Int32
    ) throws(PlaybackError) {
        var place = offset
        var left = UInt64(length)
        while left > 0 {
            let count = file_copy_bytes(from, &place, descriptor, left)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unwritable(String(cString: strerror(errno))) }
            guard count > 0 else { throw .unreadable(path: path, reason: .shortened) }
            left -= UInt64(count)
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(PlaybackError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .unwritable(String(cString: strerror(errno))) }
            done += count
        }
    }
}

/// Reads an export, or a part of it, from front to back. It belongs to one thread at a time.
public struct RecordingExportReader: ~Copyable, Sendable {
    private let sources: [String]
    private var pieces: ArraySlice<MP4Export.Piece>
    /// How much of the first piece was read.
    private var done: Int64 = 0
    private var openedSource = -1
    private var opened: RecordedFile?

    /// Begins at the first byte of a range of the file.
    public init(_ export: RecordingExport, range: Range<Int64>) {
        self.init(export.file.pieces(in: range), sources: export.sources)
    }

    /// Reads a part of one file of the store.
    public init(path: String, range: Range<Int64>) {
        self.init([.source(0, offset: range.lowerBound, length: range.upperBound - range.lowerBound)], sources: [path])
    }

    private init(_ pieces: [MP4Export.Piece], sources: [String]) {
        self.sources = sources
        self.pieces = pieces[...]
    }

    /// Fills a buffer with the next bytes.
    /// - Returns: how many; 0 at the end.
    /// - Throws: ``PlaybackError/unreadable(path:reason:)`` when a file has been deleted since.
    public mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(PlaybackError) -> Int {
        var filled = 0
        while filled < buffer.count, let piece = pieces.first {
            let count = Int(min(piece.length - done, Int64(buffer.count - filled)))
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + count])
            switch piece {
            case .bytes(let bytes): target.copyBytes(from: bytes[Int(done)..<Int(done) + count])
            case .source(let source, let offset, _):
                if openedSource != source {
                    opened = try RecordedFile(path: sources[source])
                    openedSource = source
                }
                let read = try opened?.read(target, at: offset + done) ?? 0
                guard read == count else { throw .unreadable(path: sources[source], reason: .shortened) }
            }
            filled += count
            done += Int64(count)
            if done == piece.length {
                pieces.removeFirst()
                done = 0
            }
        }
        return filled
    }
}
