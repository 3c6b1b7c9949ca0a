/// The short keys that discovery messages may use, so that they fit into the memory of small devices.
enum DiscoveryAbbreviations {
    /// Replaces the short keys of an entity's description, and those inside its parts.
    static func expanded(_ object: [String: JSONValue]) -> [String: JSONValue] {
        var result: [String: JSONValue] = [:]
        for (key, value) in object {
            let long = entity[key] ?? key
            // If a key is written in both forms, the long one counts.
            guard long == key || object[long] == nil else { continue }
            switch (long, value) {
            case ("device", .object(let device)): result[long] = .object(renamed(device, by: Self.device))
            case ("origin", .object(let origin)): result[long] = .object(renamed(origin, by: Self.origin))
            case ("availability", .array(let list)):
                result[long] = .array(list.map { item in item.object.map { .object(renamed($0, by: entity)) } ?? item })
            case ("availability", .object(let item)): result[long] = .object(renamed(item, by: entity))
            case ("components", .object(let parts)):
                result[long] = .object(parts.mapValues { part in part.object.map { .object(expanded($0)) } ?? part })
            default: result[long] = value
            }
        }
        return result
    }

    private static func renamed(_ object: [String: JSONValue], by names: [String: String]) -> [String: JSONValue] {
        Dictionary(object.map { (names[$0.key] ?? $0.key, $0.value) }) { first, _ in first }
    }

    private static let device = [
        "cns": "connections", "cu": "configuration_url", "hw": "hw_version", "ids": "identifiers", "mdl": "model",
        "mdl_id": "model_id", "mf": "manufacturer", "sa": "suggested_area", "sn": "serial_number", "sw": "sw_version",
    ]

    private static let origin = ["sw": "sw_version", "url": "support_url"]

    /// The keys that this module reads. Others are ignored, whatever they are called.
    private static let entity = [
        "act_t": "action_topic", "act_tpl": "action_template", "avty": "availability", "avty_mode": "availability_mode",
        "avty_t": "availability_topic", "avty_tpl": "availability_template", "bri_cmd_t": "brightness_command_topic",
        "bri_cmd_tpl": "brightness_command_template", "bri_scl": "brightness_scale",
        "bri_stat_t": "brightness_state_topic", "bri_val_tpl": "brightness_value_template",
        "clr_temp_cmd_t": "color_temp_command_topic",
        "clr_temp_cmd_tpl": "color_temp_command_template", "clr_temp_k": "color_temp_kelvin",
        "clr_temp_stat_t": "color_temp_state_topic", "clr_temp_val_tpl": "color_temp_value_template",
        "clrm": "color_mode", "cmd_t": "command_topic", "cmd_tpl": "command_template", "cmps": "components",
        "cod_form": "code_format", "curr_temp_t": "current_temperature_topic",
        "curr_temp_tpl": "current_temperature_template", "dev": "device", "dev_cla": "device_class",
        "ent_cat": "entity_category", "evt_typ": "event_types", "exp_aft": "expire_after",
        "hs_cmd_t": "hs_command_topic", "hs_cmd_tpl": "hs_command_template", "hs_stat_t": "hs_state_topic",
        "hs_val_tpl": "hs_value_template", "max_k": "max_kelvin", "max_mirs": "max_mireds", "min_k": "min_kelvin",
        "min_mirs": "min_mireds", "mode_cmd_t": "mode_command_topic", "mode_cmd_tpl": "mode_command_template",
        "mode_stat_t": "mode_state_topic", "mode_stat_tpl": "mode_state_template", "o": "origin", "obj_id": "object_id",
        "on_cmd_type": "on_command_type", "opt": "optimistic", "p": "platform", "pct_cmd_t": "percentage_command_topic",
        "pct_cmd_tpl": "percentage_command_template", "pct_stat_t": "percentage_state_topic",
        "pct_val_tpl": "percentage_value_template", "pl_avail": "payload_available", "pl_cls": "payload_close",
        "pl_home": "payload_home", "pl_lock": "payload_lock", "pl_not_avail": "payload_not_available",
        "pl_not_home": "payload_not_home", "pl_off": "payload_off", "pl_on": "payload_on", "pl_open": "payload_open",
        "pl_rst": "payload_reset", "pl_stop": "payload_stop", "pl_unlk": "payload_unlock",
        "pos_clsd": "position_closed",
        "pos_open": "position_open", "pos_t": "position_topic", "pos_tpl": "position_template",
        "pow_cmd_t": "power_command_topic", "ret": "retain", "rgb_cmd_t": "rgb_command_topic",
        "rgb_cmd_tpl": "rgb_command_template", "rgb_stat_t": "rgb_state_topic", "rgb_val_tpl": "rgb_value_template",
        "set_pos_t": "set_position_topic", "set_pos_tpl": "set_position_template", "spd_rng_max": "speed_range_max",
        "spd_rng_min": "speed_range_min", "src_type": "source_type", "stat_clsd": "state_closed",
        "stat_closing": "state_closing", "stat_jam": "state_jammed", "stat_locked": "state_locked",
        "stat_locking": "state_locking", "stat_off": "state_off", "stat_on": "state_on", "stat_open": "state_open",
        "stat_opening": "state_opening", "stat_stopped": "state_stopped", "stat_t": "state_topic",
        "stat_unlocked": "state_unlocked", "stat_unlocking": "state_unlocking", "stat_val_tpl": "state_value_template",
        "sup_clrm": "supported_color_modes", "t": "topic", "temp_cmd_t": "temperature_command_topic",
        "temp_cmd_tpl": "temperature_command_template", "temp_hi_cmd_t": "temperature_high_command_topic",
        "temp_hi_cmd_tpl": "temperature_high_command_template", "temp_hi_stat_t": "temperature_high_state_topic",
        "temp_hi_stat_tpl": "temperature_high_state_template", "temp_lo_cmd_t": "temperature_low_command_topic",
        "temp_lo_cmd_tpl": "temperature_low_command_template", "temp_lo_stat_t": "temperature_low_state_topic",
        "temp_lo_stat_tpl": "temperature_low_state_template", "temp_stat_t": "temperature_state_topic",
        "temp_stat_tpl": "temperature_state_template", "temp_unit": "temperature_unit",
        "tilt_clsd_val": "tilt_closed_value", "tilt_cmd_t": "tilt_command_topic",
        "tilt_cmd_tpl": "tilt_command_template",
        "tilt_opnd_val": "tilt_opened_value", "tilt_status_t": "tilt_status_topic",
        "tilt_status_tpl": "tilt_status_template", "uniq_id": "unique_id", "unit_of_meas": "unit_of_measurement",
        "val_tpl": "value_template", "xy_cmd_t": "xy_command_topic", "xy_cmd_tpl": "xy_command_template",
        "xy_stat_t": "xy_state_topic", "xy_val_tpl": "xy_value_template",
    ]
}
