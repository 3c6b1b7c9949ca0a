import RTP

extension IncomingTrack {
    /// Receives an H.265 payload: a single NAL unit, an aggregation (AP) or a fragment (FU; RFC 7798, section 4.4).
    ///
    /// As with H.264, units before the first slice of a frame are held back until that slice shows whether decoding can
    /// start with the frame.
    mutating func receiveH265(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        guard payload.count > H265.headerLength else {
            countUnusable()
            return
        }
        switch H265.type(payload[0]) {
        case 0..<H265.UnitType.aggregation:
            receiveH265Unit(payload, marker: marker)
        case H265.UnitType.aggregation:
            receiveH265Aggregation(payload, marker: marker)
        case H265.UnitType.fragmentationUnit:
            receiveH265Fragment(payload, marker: marker)
        default:
            // PACI packets and undefined types.
            countUnusable()
        }
    }

    private mutating func receiveH265Unit(_ unit: UnsafeRawBufferPointer, marker: Bool) {
        switch H265.type(unit[0]) {
        case H265.UnitType.accessUnitDelimiter:
            return
        case H265.UnitType.videoParameterSet, H265.UnitType.sequenceParameterSet, H265.UnitType.pictureParameterSet:
            h265ParameterSets.learn(unit)
            if H265.type(unit[0]) == H265.UnitType.sequenceParameterSet {
                recordParameterSets()
                frame?.hasSequenceParameterSet = true
            }
            if H265.type(unit[0]) == H265.UnitType.videoParameterSet { frame?.hasVideoParameterSet = true }
            if H265.type(unit[0]) == H265.UnitType.pictureParameterSet { frame?.hasPictureParameterSet = true }
            hold(unit)
        case 0...H265.UnitType.lastSlice:
            recordH265Reference(type: H265.type(unit[0]), header: unit)
            beginH265Slices(H265.info(ofUnit: unit))
            emitUnit(unit, marker: marker)
        default:
            hold(unit)
        }
    }

    private mutating func receiveH265Aggregation(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        // The marker belongs on the last unit, which is known only when no unit follows.
        var last: UnsafeRawBufferPointer?
        let isWhole = H265.forEachUnit(inAggregation: payload) { unit in
            if let last { receiveH265Unit(last, marker: false) }
            last = unit
        }
        if let last { receiveH265Unit(last, marker: marker && isWhole) }
        if !isWhole { countUnusable() }
    }

    private mutating func receiveH265Fragment(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        guard payload.count > 3 else {
            countUnusable()
            return
        }
        let type = payload[2] & 0x3F
        let isFirst = payload[2] & 0x80 != 0
        // Some cameras never set the end bit: the next unit's beginning or the end of the frame says the same.
        let isLast = payload[2] & 0x40 != 0 || marker
        if isFirst { finishUnit() }
        if type <= H265.UnitType.lastSlice {
            recordH265Reference(type: type, header: payload)
            beginH265Slices(H265.info(payload: payload))
        } else if frame?.hasSlice == false {
            // A long message before the first slice, which viewers do not need.
            return
        }
        guard refragmenter.isActive || !fits(payload) else {
            emit(payload, marker: marker)
            return
        }
        if isFirst || !refragmenter.isActive { refragmenter.begin(header: payload.prefix(3), isFirst: isFirst) }
        refragment(UnsafeRawBufferPointer(rebasing: payload[3...]), isLast: isLast, marker: marker)
    }

    private mutating func recordH265Reference(type: UInt8, header: UnsafeRawBufferPointer) {
        recordReference(
            H265.isReferenced(
                type: type, temporalLayer: H265.temporalLayer(header[1]),
                highest: h265ParameterSets.highestTemporalLayer))
    }

    /// Called with each part of a slice. At a frame's first part it decides whether decoding can start here, inserts
    /// the parameter sets that the camera left out, and releases the units that were held back.
    private mutating func beginH265Slices(_ info: H265.PayloadInfo) {
        guard frame?.hasSlice == false else { return }
        frame?.hasSlice = true
        let isWhole = info.contains(.startsPicture) || frame?.hasSequenceParameterSet == true
        if info.contains(.randomAccessPoint), isWhole, h265ParameterSets.isComplete {
            frame?.isKeyFrame = true
            let hasAll =
                frame?.hasVideoParameterSet == true && frame?.hasSequenceParameterSet == true
                && frame?.hasPictureParameterSet == true
            if !hasAll {
                // All of them again, in order. Those that the frame has were learnt and are among them.
                held.removeAll()
                insertH265(h265ParameterSets.sets)
            }
        }
        releaseHeld()
    }

    /// Emits parameter sets as one aggregation (RFC 7798, section 4.4.2), or one by one where they do not fit together.
    private mutating func insertH265(_ sets: [[UInt8]]) {
        let size = sets.reduce(H265.headerLength) { $0 + 2 + $1.count }
        guard sets.count > 1, size <= limit, let first = sets.first else {
            for set in sets { set.withUnsafeBytes { emitUnit($0, marker: false) } }
            return
        }
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { buffer in
            buffer[0] = H265.header(first[0], withType: H265.UnitType.aggregation)
            buffer[1] = first[1]
            var offset = H265.headerLength
            for set in sets {
                buffer[offset] = UInt8(truncatingIfNeeded: set.count >> 8)
                buffer[offset + 1] = UInt8(truncatingIfNeeded: set.count)
                UnsafeMutableRawBufferPointer(rebasing: buffer[(offset + 2)...]).copyBytes(from: set)
                offset += 2 + set.count
            }
            emit(UnsafeRawBufferPointer(buffer), marker: false)
        }
    }

    /// Emits a unit as it is, or in fragments where it is too long.
    mutating func emitH265Unit(_ unit: UnsafeRawBufferPointer, marker: Bool) {
        guard !fits(unit), unit.count > H265.headerLength else {
            emit(unit, marker: marker)
            return
        }
        let header = [
            H265.header(unit[0], withType: H265.UnitType.fragmentationUnit), unit[1], H265.type(unit[0]),
        ]
        refragmenter.begin(header: header, isFirst: true)
        refragment(UnsafeRawBufferPointer(rebasing: unit[H265.headerLength...]), isLast: true, marker: marker)
    }
}
