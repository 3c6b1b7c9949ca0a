import RTP
import SDP
import Testing
import Transport

@testable import MediaRelay

@Suite struct RetentionTests {
    private func camera(
        limits: RelayLimits = RelayLimits(), _ change: (inout ScriptedCamera.Shape) -> Void = { _ in }
    ) throws -> ScriptedCamera {
        let world = try RelayWorld(limits: limits)
        world.camera.isRunning = false
        return ScriptedCamera(world.shard, at: world.now, change)
    }

    private func reach(_ camera: ScriptedCamera, _ track: TrackID) throws -> Duration {
        let ring = try #require(camera.shard.tracks[track]).ring
        return camera.now - (try #require(ring.oldestStart))
    }

    @Test(arguments: [1, 4, 10]) func theRingReachesBackToTheKeyFrameBeforeAndNoFurther(interval: Int) throws {
        let camera = try camera { $0.keyFrameInterval = interval * 10 }
        let status = RetentionStatus { _, _ in }
        camera.shard.retain("yard", for: .seconds(6), status)
        camera.run(.seconds(20))
        for _ in 0..<100 {
            camera.run(.milliseconds(100))
            let reach = try reach(camera, camera.video)
            #expect(reach >= .seconds(6) && reach <= .seconds(6 + interval) + .seconds(1))
            // Sound is there for all of it.
            let sound = try self.reach(camera, camera.audio)
            #expect(sound >= reach && sound <= reach + .seconds(1))
        }
        #expect(
            status.grants.count == 2 && status.grants.values.allSatisfy { $0.limit == nil && $0.reach >= .seconds(6) })
    }

    @Test func theLongestRequestCountsAndAWithdrawnOneDoesNot() throws {
        let camera = try camera()
        let (short, long) = (RetentionStatus { _, _ in }, RetentionStatus { _, _ in })
        camera.shard.retain("yard", for: .seconds(5), short)
        camera.shard.retain("yard", for: .seconds(20), long)
        camera.run(.seconds(40))
        #expect(try reach(camera, camera.video) >= .seconds(20))
        #expect(camera.shard.readCounters().retentions == 2)
        camera.shard.endRetention(long, of: "yard")
        // At once, not with the next packet.
        #expect(try reach(camera, camera.video) < .seconds(7))
        #expect(try reach(camera, camera.video) >= .seconds(5))
        camera.shard.endRetention(long, of: "yard")
        camera.shard.endRetention(short, of: "yard")
        // Both begin with the newest packet, which is a moment old.
        #expect(try reach(camera, camera.video) <= .milliseconds(2_100))
        #expect(try reach(camera, camera.audio) <= .milliseconds(2_100))
        #expect(camera.shard.readCounters().retentions == 0 && camera.shard.retention.cameras.isEmpty)
    }

    @Test func withoutARequestNothingIsKeptBeyondTheNeedsOfViewers() throws {
        let camera = try camera { $0.keyFrameInterval = 40 }
        let other = try self.camera { $0.keyFrameInterval = 40 }
        let status = RetentionStatus { _, _ in }
        other.shard.retain("yard", for: .seconds(30), status)
        camera.run(.seconds(60))
        other.run(.seconds(60))
        other.shard.endRetention(status, of: "yard")
        for track in [camera.video, camera.audio] {
            #expect(camera.shard.tracks[track]?.ring.first == other.shard.tracks[track]?.ring.first)
        }
    }

    /// A viewer begins where it would without the request, however much the ring holds.
    @Test func viewersAreNotGivenABacklogOfWhatIsKept() throws {
        let camera = try camera {
            $0.keyFrameInterval = nil
            $0.answersRequests = false
        }
        camera.shard.retain("yard", for: .seconds(20), RetentionStatus { _, _ in })
        camera.run(.milliseconds(11_900))
        let track = try #require(camera.shard.tracks[camera.video])
        #expect(track.ring.newestKeyFrame != nil)
        camera.run(.seconds(1))
        #expect(track.ring.newestKeyFrame == nil && track.ring.keyFramesEvicted == 1)
        #expect(track.ring.keyFrames.count == 1)
    }

    @Test func aRequestMayComeBeforeTheCameraAndOutlivesItsTracks() throws {
        let camera = try camera { $0.hasSound = false }
        let status = RetentionStatus { _, _ in }
        camera.shard.removeCamera("yard", at: camera.now)
        camera.shard.retain("yard", for: .seconds(10), status)
        #expect(status.grants.isEmpty)
        camera.announce()
        camera.run(.seconds(15))
        #expect(try reach(camera, camera.video) >= .seconds(10))
        camera.shape.hasSound = true
        camera.announce()
        camera.run(.seconds(15))
        #expect(status.grants.keys.sorted() == [camera.video, camera.audio])
        #expect(try reach(camera, camera.audio) >= .seconds(10))
        camera.shard.removeCamera("yard", at: camera.now)
        #expect(status.grants.isEmpty && camera.shard.retention.pool.usedBytes == 0)
    }

    @Test func derivedTracksAreNotKept() throws {
        let camera = try camera()
        let inlet = TrackInlet(lists: [camera.shard.ready])
        var description = RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: {})
        description.keepsHistory = false
        let id = TrackID(camera: "garden", index: 0, isDerived: true)
        camera.shard.setTracks([(id, description, inlet)], camera: "garden", at: camera.now)
        camera.shard.retain("garden", for: .seconds(10), RetentionStatus { _, _ in })
        #expect(camera.shard.tracks[id]?.retention == nil)
    }

    @Test func theBoundOfBytesIsReportedWithWhatThereIsInstead() throws {
        var limits = RelayLimits()
        limits.ringBytes = 1 << 20
        limits.retentionBytes = 2 << 20
        // 400 KB/s: five seconds fit.
        let camera = try camera(limits: limits) {
            $0.pictureBytes = 20_000
            $0.hasSound = false
        }
        let news = Locked<[RetentionGrant]>([])
        let status = RetentionStatus { track, grant in
            #expect(track.index == 0)
            news.withLock { $0.append(grant) }
        }
        let modest = RetentionStatus { _, _ in Issue.record("two seconds fit") }
        camera.shard.retain("yard", for: .seconds(30), status)
        camera.shard.retain("yard", for: .seconds(2), modest)
        camera.run(.seconds(60))
        let ring = try #require(camera.shard.tracks[camera.video]).ring
        #expect(ring.footprint <= 2 << 20)
        // Once, although the ring is cut with every group of pictures.
        let grant = try #require(news.withLock { $0.count == 1 ? $0[0] : nil })
        #expect(grant.limit == .trackBytes(2 << 20))
        let now = try #require(status.grants[camera.video])
        #expect(now.limit == .trackBytes(2 << 20) && (.seconds(2)..<(.seconds(6))).contains(now.reach))
        #expect(try reach(camera, camera.video) >= now.reach)
        let counters = camera.shard.readCounters()
        #expect(counters.retentionShortfalls == 1 && counters.retentionsShort == 1 && counters.retentions == 2)
        #expect("\(RetentionLimit.trackBytes(2 << 20))" == "a track may hold 2 MiB")
        // The camera sends less: the ring fills up, and the holder learns that, too.
        camera.shape.pictureBytes = 1_000
        camera.run(.seconds(70))
        #expect(status.grants[camera.video]?.limit == nil)
        #expect(news.withLock { $0.count } == 2)
        #expect(camera.shard.readCounters().retentionsShort == 0)
    }

    /// The ring is cut by whole groups. A request between the least and the most that it holds is not met again with
    /// every group.
    @Test func aRequestNearTheBoundIsReportedOnce() throws {
        var limits = RelayLimits()
        limits.ringBytes = 1 << 20
        limits.retentionBytes = 2 << 20
        let camera = try camera(limits: limits) {
            $0.pictureBytes = 20_000
            $0.hasSound = false
            // Long groups: what there is is looked at several times in each.
            $0.keyFrameInterval = 30
        }
        let requests = stride(from: 1_000, through: 7_000, by: 200).map { milliseconds in
            let news = Locked<[RetentionGrant]>([])
            let status = RetentionStatus { _, grant in news.withLock { $0.append(grant) } }
            camera.shard.retain("yard", for: .milliseconds(milliseconds), status)
            return (asked: Duration.milliseconds(milliseconds), news: news, status: status)
        }
        camera.run(.seconds(100))
        for request in requests {
            let news = request.news.withLock { $0 }
            #expect(news.count <= 1)
            let grant = try #require(request.status.grants[camera.video])
            #expect((grant.limit == nil) == news.isEmpty)
            #expect(grant.limit != nil || grant.reach >= request.asked)
        }
        #expect(requests.first?.news.withLock { $0.isEmpty } == true)
        #expect(requests.last?.news.withLock { $0.count } == 1)
    }

    @Test func allTracksTogetherAreBoundedAndWithdrawalMakesRoom() throws {
        let pool = RetentionPool(limit: 1 << 20)
        let world = try RelayWorld()
        var shard: RelayShard? = RelayShard(
            port: Outbox(),
            limits: {
                var limits = RelayLimits()
                limits.ringBytes = 1 << 20
                return limits
            }(), wallClock: WallClockReading(instant: world.now, unixNanoseconds: 0), random: .seeded(1),
            retentionPool: pool)
        let status = RetentionStatus { _, _ in }
        do {
            let camera = ScriptedCamera(try #require(shard), at: world.now) {
                $0.pictureBytes = 20_000
                $0.hasSound = false
            }
            camera.shard.retain("yard", for: .seconds(30), status)
            camera.run(.seconds(60))
            #expect(status.grants[camera.video]?.limit == .totalBytes(1 << 20))
            let footprint = try #require(camera.shard.tracks[camera.video]).ring.footprint
            #expect(footprint <= 2 << 20 && footprint > 5 << 18)
            #expect(pool.usedBytes == footprint - (1 << 20))
            camera.shard.endRetention(status, of: "yard")
            #expect(pool.usedBytes == 0)
            camera.shard.retain("yard", for: .seconds(30), status)
            camera.run(.seconds(20))
            #expect(pool.usedBytes > 0)
        }
        // What a shard has taken returns with it.
        shard = nil
        #expect(pool.usedBytes == 0)
    }

    @Test func keyFramesThatAreTooFarApartAreReported() throws {
        let camera = try camera {
            $0.keyFrameInterval = 300
            $0.answersRequests = false
            $0.hasSound = false
        }
        let status = RetentionStatus { _, _ in }
        camera.shard.retain("yard", for: .seconds(5), status)
        camera.run(.seconds(17))
        #expect(status.grants[camera.video] == RetentionGrant(reach: .milliseconds(16_000)))
        camera.run(.seconds(2))
        #expect(status.grants[camera.video] == RetentionGrant(reach: .zero, limit: .keyFrameInterval(.seconds(12))))
        #expect(camera.shard.readCounters().retentionShortfalls == 1)
        // The source has been asked, but seldom.
        #expect((1...2).contains(camera.requests.count))
    }

    @Test func aSourceThatMakesKeyFramesOnRequestIsAskedForThem() throws {
        let camera = try camera { $0.keyFrameInterval = nil }
        let status = RetentionStatus { _, _ in Issue.record("the request can be met") }
        camera.shard.retain("yard", for: .seconds(5), status)
        camera.run(.seconds(120))
        #expect(try reach(camera, camera.video) >= .seconds(5))
        #expect((8...11).contains(camera.requests.count))
    }

    @Test func moreThanTheLongestTimeIsCut() throws {
        var limits = RelayLimits()
        limits.longestRetention = .seconds(10)
        let camera = try camera(limits: limits)
        let status = RetentionStatus { _, _ in }
        camera.shard.retain("yard", for: .seconds(60), status)
        camera.run(.seconds(30))
        #expect(try #require(status.grants[camera.video]).limit == .duration(.seconds(10)))
        #expect((.seconds(10)..<(.seconds(12))).contains(try reach(camera, camera.video)))
    }

    /// Sound goes on when the pictures stop, and must not fill the memory with what belongs to old pictures.
    @Test func soundIsBoundedWhenPicturesStop() throws {
        let camera = try camera()
        camera.shard.retain("yard", for: .seconds(5), RetentionStatus { _, _ in })
        camera.run(.seconds(10))
        camera.shape.hasPicture = false
        camera.run(.seconds(60))
        #expect(try reach(camera, camera.audio) <= .seconds(20))
    }
}
