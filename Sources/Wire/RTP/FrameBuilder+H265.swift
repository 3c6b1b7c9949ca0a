extension FrameBuilder {
    /// Adds an H.265 payload: a single unit, an aggregation or a fragment (RFC 7798, section 4.4).
    mutating func appendH265(_ payload: UnsafeRawBufferPointer) {
        guard payload.count > H265.headerLength else {
            malformedCount &+= 1
            damage()
            return
        }
        switch H265.type(payload[0]) {
        case 0..<H265.UnitType.aggregation:
            appendH265Unit(payload)
        case H265.UnitType.aggregation:
            guard H265.forEachUnit(inAggregation: payload, { appendH265Unit($0) }) else {
                malformedCount &+= 1
                damage()
                return
            }
        case H265.UnitType.fragmentationUnit:
            appendH265Fragment(payload)
        default:
            // PACI packets and undefined types: cameras do not send them.
            malformedCount &+= 1
            damage()
        }
    }

    private mutating func appendH265Unit(_ unit: UnsafeRawBufferPointer) {
        isInFragment = false
        recordUnit(H265.info(ofUnit: unit))
        appendStartCode()
        data.append(contentsOf: unit)
    }

    private mutating func recordUnit(_ info: H265.PayloadInfo) {
        if info.contains(.parameterSet) { hasParameters = true }
        if info.contains(.randomAccessPoint) || info.contains(.otherSlice) {
            recordSlice(startsPicture: info.contains(.startsPicture))
        }
        if info.contains(.randomAccessPoint) { isKeyFrame = true }
    }

    private mutating func appendH265Fragment(_ payload: UnsafeRawBufferPointer) {
        guard payload.count > 3 else {
            malformedCount &+= 1
            damage()
            return
        }
        let header = payload[2]
        if header & 0x80 != 0 {
            // As with H.264, an earlier fragment without an end is treated as complete.
            recordUnit(H265.info(payload: payload))
            appendStartCode()
            data.append(H265.header(payload[0], withType: header & 0x3F))
            data.append(payload[1])
            isInFragment = true
        } else if !isInFragment {
            damage()
            return
        }
        data.append(contentsOf: payload.from(3))
        if header & 0x40 != 0 { isInFragment = false }
    }
}
