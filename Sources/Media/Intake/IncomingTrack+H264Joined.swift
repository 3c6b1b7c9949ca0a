import RTP

extension IncomingTrack {
    /// Receives a fragment of a unit before the picture. The unit is not a slice, but may hold the picture, too.
    mutating func receiveJoinedFragment(_ content: UnsafeRawBufferPointer, isLast: Bool, marker: Bool) {
        switch joined.state {
        case .none, .lost:
            break
        case .passing:
            refragment(content, isLast: isLast, marker: marker)
        case .collecting:
            let (units, slice) = joined.append(content, isLast: isLast)
            for (index, unit) in units.enumerated() {
                let ends = marker && slice == nil && index == units.count - 1
                unit.withUnsafeBytes { receiveUnit($0, marker: ends) }
            }
            slice?.withUnsafeBytes { beginJoinedSlice($0, isLast: isLast, marker: marker) }
            if joined.state == .lost { countUnusable() }
        }
        if isLast { joined.end() }
    }

    /// The picture begins in a fragment of a unit that was not a slice. The fragments after it hold the rest.
    private mutating func beginJoinedSlice(_ slice: UnsafeRawBufferPointer, isLast: Bool, marker: Bool) {
        guard let first = slice.first else { return }
        guard !isLast else {
            receiveUnit(slice, marker: marker)
            return
        }
        reordering.recordH264(payload: slice)
        beginSlices(H264.keyFrameInfo(payload: slice))
        refragmenter.begin(header: [first & 0xE0 | H264.UnitType.fragmentationUnit, first & 0x1F], isFirst: true)
        refragment(UnsafeRawBufferPointer(rebasing: slice[1...]), isLast: false, marker: false)
    }

    /// No more fragments come: the collected part is complete.
    mutating func finishJoinedFragments() {
        if joined.state == .collecting {
            receiveJoinedFragment(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, marker: false)
        }
        joined.end()
    }
}
