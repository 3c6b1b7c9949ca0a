import RTP

extension IncomingTrack {
    /// Receives an H.264 payload: a single NAL unit, an aggregation (STAP-A) or a fragment (FU-A; RFC 6184, section 5).
    ///
    /// Units before the first slice of a frame are held back until that slice shows whether decoding can start with the
    /// frame, because the flag belongs on the frame's first packet.
    mutating func receiveH264(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        guard let first = payload.first else { return }
        let type = first & 0x1F
        if type != H264.UnitType.fragmentationUnit { finishUnit() }
        switch type {
        case 1...5:
            receiveUnit(payload, marker: marker)
        case 0, 6...23:
            // A payload with the encoder's start codes begins with one, or with the units before the picture.
            receiveUnits(payload, marker: marker)
        case H264.UnitType.singleTimeAggregation:
            receiveAggregation(payload, marker: marker)
        case H264.UnitType.fragmentationUnit:
            receiveFragment(payload, marker: marker)
        default:
            // The interleaved modes (STAP-B, MTAP, FU-B) are packetization mode 2, which no browser accepts.
            countUnusable()
        }
    }

    /// Receives units that are joined by start codes, or a single one.
    private mutating func receiveUnits(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        var parts = JoinedUnits(payload)
        var part = parts.next()
        if part == nil { countUnusable() }
        while let unit = part {
            part = parts.next()
            receiveUnit(unit, marker: marker && part == nil)
        }
    }

    mutating func receiveUnit(_ unit: UnsafeRawBufferPointer, marker: Bool) {
        guard let first = unit.first else { return }
        switch first & 0x1F {
        case 0, 24...31:
            // Not a unit: only payloads have these types.
            countUnusable()
        case H264.UnitType.accessUnitDelimiter:
            // It says no more than the timestamp does, and as a frame's first packet it would carry no flag.
            return
        case H264.UnitType.sequenceParameterSet:
            parameterSets.learn(unit)
            recordParameterSets()
            frame?.hasSequenceParameterSet = true
            hold(unit)
        case H264.UnitType.pictureParameterSet:
            parameterSets.learn(unit)
            frame?.hasPictureParameterSet = true
            hold(unit)
        case 1...5:
            reordering.recordH264(payload: unit)
            recordReference(H264.isReferenced(unit))
            beginSlices(H264.keyFrameInfo(payload: unit))
            emitUnit(unit, marker: marker)
        default:
            hold(unit)
        }
    }

    /// Splits an aggregation, so that its units are treated like single ones.
    private mutating func receiveAggregation(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        let info = H264.keyFrameInfo(payload: payload)
        let hasSlice = !info.isDisjoint(with: [.instantaneousDecoderRefresh, .otherSlice])
        if hasSlice, info.isDisjoint(with: [.sequenceParameterSet, .pictureParameterSet, .accessUnitDelimiter]),
            fits(payload)
        {
            reordering.recordH264(payload: payload)
            recordReference(H264.isReferenced(payload))
            beginSlices(info)
            emit(payload, marker: marker)
            return
        }
        var offset = 1
        while offset + 2 < payload.count {
            let length = Int(payload[offset]) << 8 | Int(payload[offset + 1])
            offset += 2
            guard length > 0, payload.count - offset >= length else {
                countUnusable()
                return
            }
            let isLast = offset + length + 2 >= payload.count
            receiveUnits(UnsafeRawBufferPointer(rebasing: payload[offset..<offset + length]), marker: marker && isLast)
            offset += length
        }
    }

    private mutating func receiveFragment(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        guard payload.count > 2 else {
            countUnusable()
            return
        }
        let type = payload[1] & 0x1F
        let isFirst = payload[1] & 0x80 != 0
        let isMarkedLast = payload[1] & 0x40 != 0
        // Some cameras never set the end bit: the next unit's beginning or the end of the frame says the same.
        let isLast = isMarkedLast || marker
        let isSlice = (1...5).contains(type)
        if isFirst || isSlice && joined.state != .none { finishUnit() }
        if isFirst, !isSlice, frame?.hasSlice == false { joined.begin(payload[0] & 0xE0 | type) }
        if joined.state != .none {
            receiveJoinedFragment(
                UnsafeRawBufferPointer(rebasing: payload[2...]), isLast: isLast, marker: marker)
            return
        }
        if isSlice {
            if isFirst { reordering.recordH264(payload: payload) }
            recordReference(H264.isReferenced(payload))
            beginSlices(H264.keyFrameInfo(payload: payload))
        } else if frame?.hasSlice == false {
            // The rest of a unit whose beginning was lost.
            return
        }
        // A last fragment without its mark goes through the refragmenter, which sets it.
        guard refragmenter.isActive || !fits(payload) || isLast && !isMarkedLast && !isFirst else {
            emit(payload, marker: marker)
            return
        }
        if isFirst || !refragmenter.isActive {
            refragmenter.begin(header: payload.prefix(2), isFirst: isFirst)
        }
        refragment(UnsafeRawBufferPointer(rebasing: payload[2...]), isLast: isLast, marker: marker)
    }

    /// Called with each part of a slice. At a frame's first part it decides whether decoding can start here, inserts
    /// the parameter sets that the camera left out, and releases the units that were held back.
    mutating func beginSlices(_ info: H264.KeyFrameInfo) {
        guard frame?.hasSlice == false else { return }
        frame?.hasSlice = true
        // A picture cannot be decoded if its beginning was lost or if it has no parameter sets.
        let isWhole = info.contains(.startsPicture) || frame?.hasSequenceParameterSet == true
        if info.contains(.instantaneousDecoderRefresh), isWhole, parameterSets.isComplete {
            frame?.isKeyFrame = true
            if frame?.hasSequenceParameterSet == false {
                insert(parameterSets.sets)
            } else if frame?.hasPictureParameterSet == false {
                releaseHeld()
                insert(parameterSets.sets.filter { $0.first.map { $0 & 0x1F } == H264.UnitType.pictureParameterSet })
            }
        }
        releaseHeld()
    }

    /// Emits parameter sets as one aggregation (RFC 6184, section 5.7.1), or one by one where they do not fit together.
    private mutating func insert(_ sets: [[UInt8]]) {
        let size = sets.reduce(1) { $0 + 2 + $1.count }
        guard sets.count > 1, let importance = sets.map({ $0.first ?? 0 }).max(by: { $0 & 0x60 < $1 & 0x60 }) else {
            for set in sets { set.withUnsafeBytes { emitUnit($0, marker: false) } }
            return
        }
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { buffer in
            buffer[0] = importance & 0x60 | H264.UnitType.singleTimeAggregation
            var offset = 1
            for set in sets {
                buffer[offset] = UInt8(truncatingIfNeeded: set.count >> 8)
                buffer[offset + 1] = UInt8(truncatingIfNeeded: set.count)
                UnsafeMutableRawBufferPointer(rebasing: buffer[(offset + 2)...]).copyBytes(from: set)
                offset += 2 + set.count
            }
            if fits(UnsafeRawBufferPointer(buffer)) {
                emit(UnsafeRawBufferPointer(buffer), marker: false)
            } else {
                for set in sets { set.withUnsafeBytes { emitUnit($0, marker: false) } }
            }
        }
    }

    mutating func hold(_ unit: UnsafeRawBufferPointer) {
        guard frame?.hasSlice == false else {
            // After the first slice the order does not change. A parameter set there is for the next frame.
            emitUnit(unit, marker: false)
            return
        }
        held.append(unit)
    }

    mutating func releaseHeld() {
        guard !held.isEmpty else { return }
        var units = HeldUnits()
        swap(&units, &held)
        units.forEach { emitUnit($0, marker: false) }
        units.removeAll()
        swap(&units, &held)
    }

    /// Emits a unit as it is, or in fragments (FU-A; FU of RFC 7798) where it is too long.
    mutating func emitUnit(_ unit: UnsafeRawBufferPointer, marker: Bool) {
        guard format != .h265 else {
            emitH265Unit(unit, marker: marker)
            return
        }
        guard !fits(unit), let first = unit.first else {
            emit(unit, marker: marker)
            return
        }
        refragmenter.begin(header: [first & 0xE0 | H264.UnitType.fragmentationUnit, first & 0x1F], isFirst: true)
        refragment(UnsafeRawBufferPointer(rebasing: unit[1...]), isLast: true, marker: marker)
    }
}
