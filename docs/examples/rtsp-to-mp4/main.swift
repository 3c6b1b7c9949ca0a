import DatagramPort
import Foundation
import FragmentedMP4
import RTP
import RTSP
import SDP
import Transport

// Records the picture of an RTSP camera, and its sound where MP4 can hold it, into a file.
//
//     swift run rtsp-to-mp4 rtsp://user:password@192.0.2.20/stream1 camera.mp4 10
//
// The library holds the protocol and does no I/O: this program owns the socket, the clock and the file.

/// The times of one track in the file, counted from its first packet. A file's times must rise.
struct TrackTimes {
    private var clock = TimestampUnwrapper()
    private var first: Int64?
    private var last: Int64 = -1

    mutating func next(_ timestamp: UInt32) -> Int64? {
        let time = clock.unwrap(timestamp)
        let start = first ?? time
        first = start
        guard time - start > last else { return nil }
        last = time - start
        return last
    }
}

/// What the recording needs of the stream between two packets.
struct Recorder: ~Copyable {
    let file: FileHandle
    let codec: MediaCodec
    /// The sound as the file describes it; nil for none.
    let sound: MP4Track?
    var assembler: FrameAssembler
    var writer: FragmentedMP4Writer?
    var times = [TrackTimes(), TrackTimes()]
    var frames = 0

    mutating func takePicture(_ bytes: UnsafeRawBufferPointer, at now: Instant) throws {
        guard let packet = try? RTPPacketView(parsing: bytes) else { return }
        assembler.insert(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
            payload: packet.payload, at: now)
        while let frame = assembler.nextFrame(at: now) {
            if writer == nil {
                // The first frame is a key frame: it says how large the pictures are.
                let picture = try frame.data.withUnsafeBytes { keyFrame throws(MP4Error) in
                    try MP4Track(videoCodec: codec.name, clockRate: codec.clockRate, keyFrame: keyFrame)
                }
                writer = try FragmentedMP4Writer(tracks: [picture] + (sound.map { [$0] } ?? []))
                try file.write(contentsOf: writer?.initializationSegment ?? [])
            }
            guard let track = writer?.tracks[0], let time = times[0].next(frame.timestamp) else { continue }
            let sample = MP4Sample(
                picture: frame.data, isKeyFrame: frame.isKeyFrame, track: track, decodeTime: time)
            try file.write(contentsOf: try writer?.append(sample, track: 0) ?? [])
            frames += 1
        }
    }

    /// The sound of these codecs needs no assembly: a packet is a sample.
    mutating func takeSound(_ bytes: UnsafeRawBufferPointer) throws {
        // It begins with the picture.
        guard writer != nil, let packet = try? RTPPacketView(parsing: bytes), !packet.payload.isEmpty,
            let time = times[1].next(packet.timestamp)
        else { return }
        let sample = MP4Sample(data: Array(packet.payload), decodeTime: time, isKeyFrame: true)
        try file.write(contentsOf: try writer?.append(sample, track: 1) ?? [])
    }

    mutating func finish() throws {
        try file.write(contentsOf: writer?.finish() ?? [])
        try file.close()
    }
}

/// Connects to a camera's RTSP port.
func connect(host: String, port: UInt16) -> Int32? {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &found) == 0, let first = found else { return nil }
    defer { freeaddrinfo(first) }
    for address in sequence(first: first, next: \.pointee.ai_next) {
        let descriptor = socket(address.pointee.ai_family, address.pointee.ai_socktype, 0)
        if Glibc.connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 { return descriptor }
        close(descriptor)
    }
    return nil
}

func record(_ url: RTSPURL, into path: String, for duration: Duration) throws -> String {
    guard let descriptor = connect(host: url.host, port: url.port) else { return "\(url.host) cannot be reached" }
    defer { close(descriptor) }
    var client = RTSPClient(url: url, random: .system)
    var recorder: Recorder?
    client.start(at: MonotonicClock.now)
    let end = MonotonicClock.now + duration
    while MonotonicClock.now < end {
        while client.hasOutput {
            client.write { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
        let now = MonotonicClock.now
        let wait = min(end, client.nextDeadline ?? end) - now
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&readable, 1, Int32(max(1, min(1_000, wait.inMilliseconds)))) == 1 {
            let count = client.receive { max(0, read(descriptor, $0.baseAddress, $0.count)) }
            if count == 0 { return "the camera has closed the connection" }
        }
        if let due = client.nextDeadline, due <= now { try client.handleDeadline(at: now) }
        while let event = try client.pollEvent(at: now) {
            switch event {
            case .described(let text, let base):
                let description = try SessionDescription(parsing: text)
                guard let track = description.cameraTracks.first(where: { $0.kind == .video && $0.role == .source }),
                    let format = FrameAssembler.Format(named: track.codec.name)
                else { return "the camera sends no video that can be recorded" }
                _ = FileManager.default.createFile(atPath: path, contents: nil)
                guard let file = FileHandle(forWritingAtPath: path) else { return "\(path) cannot be written" }
                let sound = description.cameraTracks.first { track in
                    track.kind == .audio && track.role == .source
                        && ["PCMU", "PCMA", "OPUS"].contains(track.codec.name.uppercased())
                }
                recorder = Recorder(
                    file: file, codec: track.codec,
                    sound: try sound.map {
                        try MP4Track(
                            audioCodec: $0.codec.name, clockRate: $0.codec.clockRate, channels: $0.codec.channels)
                    }, assembler: FrameAssembler(format: format))
                let controls = [track.control] + (sound.map { [$0.control] } ?? [])
                client.setUp(controls.map { url.controlURI($0, base: base) }, at: now)
            case .interleaved(channel: 0, let range):
                try recorder?.takePicture(client.bytes(in: range), at: now)
            case .interleaved(channel: 2, let range):
                try recorder?.takeSound(client.bytes(in: range))
            case .redirected, .tornDown:
                return "the camera sends no more"
            default:
                break
            }
        }
    }
    let frames = recorder?.frames ?? 0
    try recorder?.finish()
    return "\(frames) frames in \(path)"
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let seconds = Double(arguments[3]), (1...86_400).contains(seconds) else {
    print("usage: rtsp-to-mp4 ADDRESS FILE SECONDS")
    exit(2)
}
do {
    print(try record(RTSPURL(parsing: arguments[1]), into: arguments[2], for: .seconds(seconds)))
} catch {
    print("rtsp-to-mp4: \(error)")
    exit(1)
}
