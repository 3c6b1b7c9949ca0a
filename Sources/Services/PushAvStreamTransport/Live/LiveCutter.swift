/// Cuts the chunks of a live stream into segments and parts, and keeps the newest of them. Pure.
struct LiveCutter: Sendable {
    private let configuration: LiveWindow.Configuration
    /// What there is now.
    private(set) var content = LiveWindow.Content()
    /// The headers of the segments, by their numbers.
    private(set) var headers: [UInt64: LiveDescription] = [:]
    private var description: LiveDescription?
    /// The part that is not complete yet.
    private var pending: LiveWindow.Part?
    /// Whether the times of the next segment do not continue those of the last.
    private var isInterrupted = false
    /// The number of the next segment.
    private var number: UInt64 = 0
    /// The bytes of the segment that is not complete yet.
    private var openBytes = 0

    init(_ configuration: LiveWindow.Configuration) {
        self.configuration = configuration
    }

    /// Takes what comes next.
    mutating func take(_ event: LiveSubscription.Event) {
        switch event {
        case .began(let description): begin(description)
        case .chunks(let chunks):
            for chunk in chunks { add(chunk) }
        case .silence: break
        }
    }

    private mutating func begin(_ description: LiveDescription) {
        closePart()
        closeSegment()
        self.description = description
        headers[description.number] = description
        isInterrupted = true
        let used = Set(content.segments.map(\.header)).union([description.number])
        headers = headers.filter { used.contains($0.key) }
    }

    private mutating func add(_ chunk: LiveChunk) {
        guard let description, description.tracks.indices.contains(chunk.track) else { return }
        // The first track is the pictures, or the sound of a camera without any.
        guard chunk.track == 0 else {
            if pending != nil { append(chunk) }
            return
        }
        let duration = Double(chunk.duration) / Double(max(description.tracks[0].timescale, 1))
        let current = content.segments.last
        let isOpen = current.map { !$0.isComplete } ?? false
        if chunk.canBegin {
            let length = (current?.duration ?? 0) + (pending?.duration ?? 0)
            if !isOpen || length + duration / 2 >= configuration.segmentDuration {
                closePart()
                closeSegment()
                openSegment(description)
            }
        } else if !isOpen {
            return
        }
        if let pending, pending.duration + duration > configuration.partDuration + 0.001 { closePart() }
        if pending == nil { pending = LiveWindow.Part(duration: 0, isIndependent: chunk.canBegin, bytes: []) }
        pending?.duration += duration
        append(chunk)
        // A camera may send no key frame for a long time.
        if openBytes > configuration.bytes {
            closePart()
            closeSegment()
            isInterrupted = true
        }
    }

    private mutating func append(_ chunk: LiveChunk) {
        pending?.bytes += chunk.bytes
        openBytes += chunk.bytes.count
    }

    private mutating func openSegment(_ description: LiveDescription) {
        content.segments.append(
            LiveWindow.Segment(
                number: number, header: description.number, isDiscontinuous: isInterrupted && number > 0))
        isInterrupted = false
        number += 1
        openBytes = 0
    }

    private mutating func closePart() {
        guard let part = pending, let last = content.segments.indices.last else { return }
        pending = nil
        content.segments[last].parts.append(part)
        content.longestPart = max(content.longestPart, part.duration)
    }

    private mutating func closeSegment() {
        guard let last = content.segments.indices.last, !content.segments[last].isComplete else { return }
        content.segments[last].isComplete = true
        content.longestSegment = max(content.longestSegment, content.segments[last].duration)
        while content.segments.count > configuration.segments
            || content.segments.count > 1 && byteCount > configuration.bytes
        {
            if content.segments.removeFirst().isDiscontinuous { content.discontinuities += 1 }
        }
    }

    private var byteCount: Int {
        content.segments.reduce(0) { $0 + $1.parts.reduce(0) { $0 + $1.bytes.count } }
    }
}
