extension FrameBuilder {
    /// Adds an AV1 payload. The frame becomes a temporal unit whose units have their sizes (AV1 bitstream
    /// specification, section 5.2), without delimiters and padding.
    mutating func appendAV1(_ payload: UnsafeRawBufferPointer) {
        guard let header = AV1AggregationHeader(parsing: payload) else {
            malformedCount &+= 1
            damage()
            return
        }
        guard header.continuesUnit == isInFragment else {
            // The beginning or the end of a unit is missing.
            damage()
            return
        }
        if data.isEmpty, !isInFragment { isKeyFrame = AV1.isKeyFrameStart(payload: payload) }
        var isReadable = true
        let isWhole = AV1.forEachElement(of: payload) { element, isFirst, isLast in
            if !(isFirst && header.continuesUnit) {
                // The element that continues the open unit was empty, so the rest of the unit is missing.
                if isInFragment { isReadable = false }
                fragment.removeAll(keepingCapacity: true)
            }
            fragment.append(contentsOf: element)
            isInFragment = isLast && header.isContinued
            if !isInFragment { isReadable = appendUnit() && isReadable }
        }
        if !isWhole || !isReadable {
            malformedCount &+= 1
            damage()
        }
    }

    /// Appends the completed unit with its size. Returns whether it could be read.
    private mutating func appendUnit() -> Bool {
        defer { fragment.removeAll(keepingCapacity: true) }
        guard let first = fragment.first, first & 0x80 == 0 else { return false }
        switch AV1.type(first) {
        case AV1.UnitType.temporalDelimiter, AV1.UnitType.tileList, AV1.UnitType.padding: return true
        default: break
        }
        guard first & 0x02 == 0 else {
            // It has its size already.
            data.append(contentsOf: fragment)
            return true
        }
        let headerLength = first & 0x04 == 0 ? 1 : 2
        guard fragment.count >= headerLength else { return false }
        data.append(first | 0x02)
        if headerLength == 2 { data.append(fragment[1]) }
        var length = fragment.count - headerLength
        while length >= 0x80 {
            data.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        data.append(UInt8(truncatingIfNeeded: length))
        data.append(contentsOf: fragment[headerLength...])
        return true
    }
}
