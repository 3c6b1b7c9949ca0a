import FragmentedMP4
import Glibc

/// An open file of the store, for reading.
struct RecordedFile: ~Copyable, Sendable {
    let path: String
    let descriptor: Int32

    init(path: String) throws(PlaybackError) {
        // A link or a device that somebody put into the folder is not followed, and does not block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path: path, reason: RecordedFileFault(errno: errno)) }
        // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Reads up to a whole buffer from an offset.
    /// - Returns: how many bytes there were.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(PlaybackError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled, off_t(offset) + filled)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(path: path, reason: RecordedFileFault(errno: errno)) }
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    func read(_ count: Int, at offset: Int64) throws(PlaybackError) -> [UInt8] {
        var failure: PlaybackError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(PlaybackError) {
                filled = try read(UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Hands the chunks of a segment to `body`, in their order, until it returns false. Only the boxes before the media
    /// are read.
    /// - Parameter length: how much of the file belongs to the segment.
    func chunks(
        _ reader: MP4ChunkReader, length: Int64, _ body: (MP4Chunk) throws(PlaybackError) -> Bool
    ) throws(PlaybackError) {
        var offset: Int64 = 0
        var window = MP4ChunkReader.usualWindow
        // Each step goes on in the file or enlarges the window, which has a limit.
        while offset < length {
            let bytes = try read(Int(min(Int64(window), length - offset)), at: offset)
            guard !bytes.isEmpty else { return }
            let outcome: MP4ChunkReader.Outcome
            do throws(MP4ReadError) {
                outcome = try Self.outcome(reader, bytes, offset, length)
            } catch {
                throw .unreadable(path: path, reason: .format(error))
            }
            switch outcome {
            case .chunk(let chunk):
                guard try body(chunk) else { return }
                offset = chunk.end
                window = MP4ChunkReader.usualWindow
            case .skip(let place):
                offset = place
                window = MP4ChunkReader.usualWindow
            case .needs(let count):
                guard count > bytes.count else { return }
                window = count
            case .cutOff: return
            }
        }
    }

    private static func outcome(
        _ reader: MP4ChunkReader, _ bytes: [UInt8], _ offset: Int64, _ length: Int64
    ) throws(MP4ReadError) -> MP4ChunkReader.Outcome {
        let result = bytes.withUnsafeBytes { raw -> Result<MP4ChunkReader.Outcome, MP4ReadError> in
            do throws(MP4ReadError) {
                return .success(try reader.read(raw, at: offset, fileLength: length))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
