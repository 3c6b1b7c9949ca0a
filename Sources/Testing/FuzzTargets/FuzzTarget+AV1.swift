import RTP

extension FuzzTarget {
    static let av1 = FuzzTarget(
        "av1", "one AV1 payload, and the same cut to fit: it holds the same units", maximumLength: 2048,
        seeds: {
            let long = (0..<200).map { UInt8($0) }
            return (videoPayloads.last ?? []).map { [0] + $0 } + [
                // A fragment, two units with lengths, and the beginning of one that continues.
                [40, 0xF0, 3, 1, 2, 3, 4, 0x30, 1, 2, 3] + long,
                [7, 0x40, 0xC8, 1] + long + [2, 0x32, 9],
                [0, 0x18, 0x12, 0] + long,
            ]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let limit = 8 + Int(input.byte())
        let payload = input.rest()
        observe((AV1.isKeyFrameStart(payload: payload), AV1.isKeyFrame(payload)))
        // What cannot be read is not passed on.
        guard let header = AV1AggregationHeader(parsing: payload), let units = elements(of: payload) else { return }
        var pieces: [[UInt8]] = []
        var ends: [Bool] = []
        AV1.split(payload, limit: limit) { piece, isLast in
            pieces.append(Array(piece))
            ends.append(isLast)
        }
        try require(pieces.isEmpty == units.isEmpty, "\(pieces.count) pieces of \(units.count) units")
        var joined: [[UInt8]] = []
        var isContinued = header.continuesUnit
        for (index, piece) in pieces.enumerated() {
            try require(piece.count <= limit, "a piece of \(piece.count) bytes where \(limit) fit")
            let isLast = index == pieces.count - 1
            try require(ends[index] == isLast, "the last piece is not the last")
            let read = piece.withUnsafeBytes { (AV1AggregationHeader(parsing: $0), elements(of: $0)) }
            guard let pieceHeader = read.0, let parts = read.1 else { throw FuzzFailure("a piece cannot be read") }
            try require(pieceHeader.continuesUnit == isContinued, "a fragment begins where none went on")
            try require(pieceHeader.startsSequence == (header.startsSequence && index == 0), "another beginning")
            for (number, part) in parts.enumerated() {
                if number == 0, isContinued, index > 0 {
                    try require(!joined.isEmpty, "a fragment of nothing")
                    joined[joined.count - 1] += part
                } else {
                    joined.append(part)
                }
            }
            isContinued = pieceHeader.isContinued
        }
        try require(pieces.isEmpty || isContinued == header.isContinued, "the last unit ends otherwise")
        try require(joined == units, "the pieces hold other units")
    }

    private static func elements(of payload: UnsafeRawBufferPointer) -> [[UInt8]]? {
        var elements: [[UInt8]] = []
        let isWhole = AV1.forEachElement(of: payload) { element, _, _ in elements.append(Array(element)) }
        return isWhole ? elements : nil
    }
}
