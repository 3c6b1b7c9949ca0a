import AutomationGraph
import HomeTypes

/// Nodes that run in order.
public func sequential(@FlowBuilder _ body: () -> FlowContent) -> SequentialFlow { SequentialFlow(body().nodes) }

/// Nodes that run at the same time. One pass of a `for` loop with several nodes is one branch, whose nodes run in order.
public func parallel(@ParallelFlowBuilder _ body: () -> FlowContent) -> ParallelFlow { ParallelFlow(body().nodes) }

/// Starters, each of which starts the automation.
public func select(@FlowBuilder _ body: () -> FlowContent) -> SelectFlow { SelectFlow(body().nodes) }

/// Ends the path unless an expression is true.
public func condition(_ expression: () -> TypedExpression<Bool>) -> Condition {
    Condition(GraphCondition(expression().graphExpression))
}

/// Ends the path unless an expression is true for this long.
public func condition(for duration: Duration, _ expression: () -> TypedExpression<Bool>) -> Condition {
    Condition(GraphCondition(expression().graphExpression, for: duration))
}

/// Runs a flow if an expression is true. `elseIf` and `orElse` add further flows.
public func ifThen(_ condition: TypedExpression<Bool>, @FlowBuilder _ body: () -> FlowContent) -> IfFlow {
    IfFlow(GraphIf(.init(condition.graphExpression, body().nodes)))
}

extension IfFlow {
    /// Adds a flow for the case that the conditions before are not true, and this one is.
    public func elseIf(_ condition: TypedExpression<Bool>, @FlowBuilder _ body: () -> FlowContent) -> IfFlow {
        var result = self
        result.choice.elseIfThens.append(.init(condition.graphExpression, body().nodes))
        return result
    }

    /// Sets the flow for the case that no condition is true.
    public func orElse(@FlowBuilder _ body: () -> FlowContent) -> IfFlow {
        var result = self
        result.choice.elseThen = body().nodes
        return result
    }
}

/// Waits for 1 second to 24 hours.
public func delay(for duration: Duration) -> Delay { Delay(duration) }

/// Ignores the starters for 5 seconds to 24 hours after the automation has started.
public func suppress(for duration: Duration) -> Suppression { Suppression(duration) }

/// Sends a command to a device.
public func action<Sent: Command>(
    _ entity: some HomeObject, _ type: any DeviceType.Type, _ behavior: () -> Sent
) -> Action { entity.action(type, behavior()) }

/// Sends a command to a structure.
public func action<Sent: Command>(_ entity: some HomeObject, _ behavior: () -> Sent) -> Action {
    entity.action(nil, behavior())
}

/// Writes attributes of a device.
public func action<Written: TraitUpdate>(
    _ entity: some HomeObject, _ type: any DeviceType.Type, _ behavior: () -> Written
) -> Action {
    Action(
        GraphAction(entity.source(type, Written.trait), .update(JSONObject.Value.members(encoding: behavior()))))
}

extension HomeObject {
    fileprivate func action<Sent: Command>(_ type: (any DeviceType.Type)?, _ command: Sent) -> Action {
        let parameters = JSONObject.Value.members(encoding: command)
        return Action(GraphAction(source(type, Sent.trait), .command(Sent.name, parameters: parameters)))
    }
}
